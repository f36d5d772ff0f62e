"""A way past the API server on which nothing can be written now."""

from collections.abc import Collection

from kwokctl.dataplane.events.object_event import ObjectEvent
from kwokctl.dataplane.port import Figures, ObjectKey, Patch
from kwokctl.json_value import Json
from kwokctl.kube.resource import Resource


class NeverDirect:
    """Sends its user to the API server with everything."""

    async def read(self, target: ObjectKey) -> Json | None:
        return None

    async def patch_and_record(
        self, target: ObjectKey, patch: Patch, event: ObjectEvent, *, current: Json
    ) -> Json | None:
        return None

    async def store_whole(
        self, target: ObjectKey, value: bytes, version: int, event: ObjectEvent | None = None
    ) -> int | None:
        return None

    def leave(self, resources: Collection[Resource]) -> None:
        """All of them go through the API anyway."""

    def seen(self, resource: Resource, version: int) -> None:
        """Nothing is paced."""

    def lag(self, resource: Resource) -> float:
        return 0.0

    def figures(self) -> Figures:
        return {}
