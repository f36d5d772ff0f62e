"""What clusters in memory have in common as data planes: everything goes through their API."""

from collections.abc import Collection

from kwokctl.dataplane.bulk.api import ApiBulk
from kwokctl.dataplane.events.object_event import ObjectEvent
from kwokctl.dataplane.port import (
    Figures,
    KubeletWriter,
    NewObjects,
    ObjectKey,
    OldObjects,
    Patch,
)
from kwokctl.json_value import Json
from kwokctl.kube.resource import Resource


class ThroughApi:
    """Serves bulk writes by single ones."""

    leases_at_once = 1
    past_api = False

    async def patch_and_record(
        self, target: ObjectKey, patch: Patch, event: ObjectEvent, *, current: Json
    ) -> Json | None:
        return None

    async def store_whole(
        self, target: ObjectKey, value: bytes, version: int, event: ObjectEvent | None = None
    ) -> int | None:
        return None

    async def create_copies(self: KubeletWriter, new: NewObjects) -> None:
        await ApiBulk(self).create(new)

    async def delete_many(self: KubeletWriter, old: OldObjects) -> None:
        await ApiBulk(self).delete(old)

    def lag(self, resource: Resource) -> float:
        return 0.0

    def leave(self, resources: Collection[Resource]) -> None:
        """Nothing goes past the API."""

    def figures(self) -> Figures:
        return {}
