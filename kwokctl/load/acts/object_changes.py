"""Acts that change or remove one object: patch, scale and delete."""

import msgspec

from kwokctl.errors import ConfigError
from kwokctl.expr import yaml
from kwokctl.expr.gotemplate import template
from kwokctl.json_value import Json
from kwokctl.kube.client import PatchType
from kwokctl.load.acts.act import ActContext, Data, Work
from kwokctl.load.acts.targets import Targets
from kwokctl.load.client.load_rights import Right
from kwokctl.load.client.sender import Flight
from kwokctl.load.description.acts_schema import DeleteActShape, PatchActShape, ScaleActShape

_PATCH, _REPLICAS = "spec.patch.patch", "spec.scale.replicas"
_TYPES = {"merge": PatchType.MERGE, "strategic": PatchType.STRATEGIC, "json": PatchType.JSON}


class PatchAct:
    """Patches an object."""

    def __init__(self, context: ActContext, shape: PatchActShape) -> None:
        self._targets = Targets(context, shape.target, "spec.patch.target")
        self._context, self._shape = context, shape
        self._template = template.compile(shape.patch, name=_PATCH)

    async def rights(self, data: Data) -> list[Right]:
        """Return the right to patch."""
        self._document(data)
        return await self._targets.rights(data, "patch", subresource=self._shape.subresource)

    def prepared(self, data: Data) -> Work:
        """Render the patch, and return what sends it."""
        body = msgspec.json.encode(self._document(data))

        async def patch(flight: Flight) -> None:
            found = await self._targets.one(flight, data)
            resource = await self._targets.resource()
            path = resource.path(found.namespace, found.name, self._shape.subresource)
            type_ = _TYPES[self._shape.type]
            await flight.call(
                "PATCH", path + self._context.sender.written, body, content_type=type_
            )

        return patch

    def _document(self, data: Data) -> Json:
        text = self._context.text(self._template, data, _PATCH)
        try:
            found = yaml.load(text)
        except ConfigError as e:
            raise self._context.fault(_PATCH, f"is not YAML: {e}", hint=e.hint) from e
        if not isinstance(found, list if self._shape.type == "json" else dict):
            shape = "a list" if self._shape.type == "json" else "a mapping"
            raise self._context.fault(_PATCH, f"does not give {shape}")
        return found


class ScaleAct:
    """Gives an object another number of replicas."""

    def __init__(self, context: ActContext, shape: ScaleActShape) -> None:
        self._targets = Targets(context, shape.target, "spec.scale.target")
        self._context = context
        self._template = template.compile(str(shape.replicas), name=_REPLICAS)

    async def rights(self, data: Data) -> list[Right]:
        """Return the right to scale."""
        self._replicas(data)
        return await self._targets.rights(data, "patch", subresource="scale")

    def prepared(self, data: Data) -> Work:
        """Return what scales it."""
        body = msgspec.json.encode({"spec": {"replicas": self._replicas(data)}})

        async def scale(flight: Flight) -> None:
            found = await self._targets.one(flight, data)
            path = (await self._targets.resource()).path(found.namespace, found.name, "scale")
            written = path + self._context.sender.written
            await flight.call("PATCH", written, body, content_type=PatchType.MERGE)

        return scale

    def _replicas(self, data: Data) -> int:
        text = self._context.text(self._template, data, _REPLICAS).strip()
        if not text.isdecimal():
            raise self._context.fault(_REPLICAS, f"gives '{text}', not a number of replicas")
        return int(text)


class DeleteAct:
    """Deletes an object."""

    def __init__(self, context: ActContext, shape: DeleteActShape) -> None:
        self._targets = Targets(context, shape.target, "spec.delete.target")

    async def rights(self, data: Data) -> list[Right]:
        """Return the right to delete."""
        return await self._targets.rights(data, "delete")

    def prepared(self, data: Data) -> Work:
        """Return what deletes it."""

        async def delete(flight: Flight) -> None:
            found = await self._targets.one(flight, data)
            await flight.delete(await self._targets.resource(), found.namespace, found.name)

        return delete
