"""Tells the other pods of a gang what a fault has done to one of them."""

from collections.abc import Sequence

import orjson

from kwokctl.controller.controller_context import ControllerContext
from kwokctl.controller.lifecycle.pod_faults.gang_strikes import (
    GANG_FAULTS,
    GangStrike,
    others,
    selector_of,
    strike_of,
    struck,
)
from kwokctl.controller.lifecycle.pod_faults.hits import WorkloadHit
from kwokctl.dataplane.port import ObjectKey, Patch
from kwokctl.errors import ApiError, NotFoundError
from kwokctl.fleet.gangs import gang_in_faults
from kwokctl.kube.client import PatchType
from kwokctl.kube.resource import PODS
from kwokctl.kube.stored_json import ObjectInJson
from kwokctl.tasks import for_each

_AT_ONCE = 8
_CONFLICT = 409


class GangSpreader:
    """Writes the annotation of the pods of gangs, also of those that other controllers play.

    It is written before what the fault does to the pod that it hits: a controller that ends in between does both
    once more, and a pod that has the hit in its annotation already is not written.
    """

    def __init__(self, context: ControllerContext) -> None:
        """Read and write with what `context` has."""
        self._context = context

    async def spread(
        self, pod: ObjectInJson, node: str, hits: Sequence[tuple[WorkloadHit, float]]
    ) -> None:
        """Tell the gang of a pod, on a node, of hits, each with its time; RequestError if that fails."""
        if not (gang := gang_in_faults(pod)):
            return
        meta = pod["metadata"]
        strikes = [strike_of(hit, node, at) for hit, at in hits]
        found = await self._context.reader.list(
            PODS, namespace=meta["namespace"], label_selector=selector_of(gang)
        )
        mates = others([orjson.loads(each) for each in found], gang, meta["uid"])

        async def tell(mate: ObjectInJson) -> None:
            await self._tell(mate, strikes)

        await for_each(mates, tell, at_once=_AT_ONCE)

    async def _tell(self, mate: ObjectInJson, strikes: Sequence[GangStrike]) -> None:
        if (text := struck(mate, strikes)) is None:
            return
        meta = mate["metadata"]
        target = ObjectKey(PODS, meta["namespace"], meta["name"])
        patch = Patch(
            document={"metadata": {"uid": meta["uid"], "annotations": {GANG_FAULTS: text}}},
            type=PatchType.MERGE,
            subresource="status",
        )
        try:
            await self._context.plane.patch(target, patch)
        except NotFoundError:
            return
        except ApiError as e:
            if e.status != _CONFLICT:  # another pod has its name by now
                raise
