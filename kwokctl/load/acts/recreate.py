"""Deletes a share of the objects, and creates them again as they were."""

import asyncio

import msgspec

from kwokctl.errors import ApiError
from kwokctl.json_value import Json
from kwokctl.kube.resource import Resource
from kwokctl.load.acts.act import ActContext, Data, Work
from kwokctl.load.acts.targets import Found, Targets
from kwokctl.load.client.load_rights import Right
from kwokctl.load.client.sender import Flight
from kwokctl.load.description.acts_schema import RecreateActShape
from kwokctl.load.description.bundles import clean

_EXISTS, _GONE = "AlreadyExists", "NotFound"
_PAUSE, _PATIENCE = 0.1, 60.0
"""Seconds between looks at an object that is being deleted, and until it is given up."""


class RecreateAct:
    """Deletes a share of the objects of a kind, and creates them again."""

    def __init__(self, context: ActContext, shape: RecreateActShape) -> None:
        self._targets = Targets(context, shape.target, "spec.recreate.target")
        self._context, self._percent = context, shape.percent

    async def rights(self, data: Data) -> list[Right]:
        """Return the rights for all three steps."""
        return await self._targets.rights(data, "get", "delete", "create")

    def prepared(self, data: Data) -> Work:
        """Return what does it, for other objects each time."""

        async def recreate(flight: Flight) -> None:
            resource = await self._targets.resource()
            for found in await self._targets.share(flight, data, self._percent):
                await self._again(flight, resource, found)

        return recreate

    async def _again(self, flight: Flight, resource: Resource, found: Found) -> None:
        """Delete an object and create it; of one that a controller has made, the controller does that."""
        path = resource.path(found.namespace, found.name)
        try:
            body: dict[str, Json] = msgspec.json.decode(await flight.call("GET", path))
            await flight.delete(resource, found.namespace, found.name)
        except ApiError as e:
            if e.reason == _GONE:
                return
            raise
        if not body["metadata"].get("ownerReferences"):
            head = {"apiVersion": resource.api_version, "kind": resource.kind}
            await self._create(flight, clean({**body, **head}))

    async def _create(self, flight: Flight, body: dict[str, Json]) -> None:
        """Create an object as soon as the one of its name is gone."""
        clock = asyncio.get_running_loop().time
        until = clock() + _PATIENCE
        while True:
            try:
                await flight.create(body)
            except ApiError as e:
                if e.reason != _EXISTS or clock() > until:
                    raise
            else:
                return
            await asyncio.sleep(_PAUSE)
