"""A data plane that writes nothing itself: it records each call and passes it on to another one."""

from collections.abc import Collection, Sequence
from typing import Any

from kwokctl.dataplane.events.object_event import ObjectEvent
from kwokctl.dataplane.port import (
    DataPlane,
    DirectWriter,
    Figures,
    NewObjects,
    ObjectKey,
    ObjectVersion,
    OldObjects,
    Patch,
    Renewal,
    Renewed,
)
from kwokctl.kube.resource import Resource
from kwokctl.replacing import replace


class RecordingPlane:
    """An adapter of the port that knows nothing of the two that ship."""

    def __init__(self, plane: DataPlane) -> None:
        self._plane = plane
        self.leases_at_once = plane.leases_at_once
        self.calls: list[tuple[str, str]] = []
        """What was requested, and of which objects: their names, a kind, or how many."""
        self.direct: DirectWriter | None = None
        if plane.direct is not None:
            self.direct = RecordingDirect(plane.direct, self.calls)
        self.done = 0
        """Objects of bulk writes that have been created or deleted."""

    async def create(
        self, resource: Resource, namespace: str | None, body: bytes, *, as_user: str = ""
    ) -> bytes:
        self.calls.append(("create", resource.kind))
        return await self._plane.create(resource, namespace, body, as_user=as_user)

    async def record(self, event: ObjectEvent) -> None:
        self.calls.append(("record", event.about))
        await self._plane.record(event)

    async def patch(self, target: ObjectKey, patch: Patch, *, current: Any = None) -> Any:
        self.calls.append(("patch", target.name))
        return await self._plane.patch(target, patch, current=current)

    async def renew(self, renewals: Sequence[Renewal]) -> Sequence[Renewed]:
        self.calls += [("renew", renewal.node) for renewal in renewals]
        return await self._plane.renew(renewals)

    async def delete(
        self,
        target: ObjectKey,
        *,
        grace_seconds: int | None = None,
        uid: str | None = None,
        current: Any = None,
    ) -> None:
        self.calls.append(("delete", target.name))
        await self._plane.delete(target, grace_seconds=grace_seconds, uid=uid, current=current)

    async def create_copies(self, new: NewObjects) -> None:
        self.calls.append(("create_copies", f"{len(new.serials)} {new.resource.plural}"))

        def on_created() -> None:
            self.done += 1
            new.on_created()

        await self._plane.create_copies(replace(new, on_created=on_created))

    async def delete_many(self, old: OldObjects) -> None:
        objects: Sequence[ObjectVersion] = old.objects
        self.calls.append(("delete_many", f"{len(objects)} {old.resource.plural}"))

        def on_deleted() -> None:
            self.done += 1
            old.on_deleted()

        await self._plane.delete_many(replace(old, on_deleted=on_deleted))


class RecordingDirect:
    """What the adapter can do past the API server."""

    def __init__(self, direct: DirectWriter, calls: list[tuple[str, str]]) -> None:
        self._direct = direct
        self.calls = calls

    async def read(self, target: ObjectKey) -> Any:
        return await self._direct.read(target)

    async def patch_and_record(
        self, target: ObjectKey, patch: Patch, event: ObjectEvent, *, current: Any
    ) -> Any:
        self.calls.append(("patch_and_record", target.name))
        return await self._direct.patch_and_record(target, patch, event, current=current)

    async def store_whole(
        self, target: ObjectKey, value: bytes, version: int, event: ObjectEvent | None = None
    ) -> int | None:
        self.calls.append(("store_whole", target.name))
        return await self._direct.store_whole(target, value, version, event)

    def seen(self, resource: Resource, version: int) -> None:
        self.calls.append(("seen", resource.kind))
        self._direct.seen(resource, version)

    def lag(self, resource: Resource) -> float:
        return self._direct.lag(resource)

    def leave(self, resources: Collection[Resource]) -> None:
        self.calls.append(("leave", " ".join(sorted(each.plural for each in resources))))
        self._direct.leave(resources)

    def figures(self) -> Figures:
        return self._direct.figures()
