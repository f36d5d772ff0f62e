"""Lists objects, as a reader of the cluster does."""

import msgspec

from kwokctl.kube.collections.paging import ListMetadata
from kwokctl.load.acts.act import ActContext, Data, Work
from kwokctl.load.acts.targets import Targets
from kwokctl.load.client.load_rights import Right
from kwokctl.load.client.sender import Flight
from kwokctl.load.description.acts_schema import ListActShape


class _Page(msgspec.Struct):
    metadata: ListMetadata


_decode = msgspec.json.Decoder(_Page).decode


class ListAct:
    """Lists the objects of a kind, all of them."""

    def __init__(self, context: ActContext, shape: ListActShape) -> None:
        self._targets = Targets(context, shape.target, "spec.list.target")
        self._shape = shape

    async def rights(self, data: Data) -> list[Right]:
        """Return the right to list."""
        return await self._targets.rights(data)

    def prepared(self, data: Data) -> Work:
        """Return what reads every page."""

        async def read(flight: Flight) -> None:
            query = await self._targets.query()
            # An answer from the cache has no pages.
            version = "0" if self._shape.cached and self._shape.limit is None else ""
            parameters = {"limit": str(self._shape.limit or ""), "resourceVersion": version}
            while True:
                answer = await flight.call("GET", query.path(**parameters))
                following = _decode(answer).metadata.next_page
                if not following:
                    return
                parameters = {"limit": parameters["limit"], "continue": following}

        return read
