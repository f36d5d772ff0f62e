"""Writes a lease that is not a node's: that of a member, or of the controller that plays other kinds."""

from collections.abc import Mapping

from kwokctl.controller.controller_context import ControllerContext
from kwokctl.controller.leases.holder import LABEL
from kwokctl.controller.write_errors import ErrorKind, error_kind
from kwokctl.dataplane.leases.decode import StoredLease, read_lease
from kwokctl.dataplane.leases.encode import Lease
from kwokctl.dataplane.port import ObjectKey, Renewal, Renewed
from kwokctl.errors import RequestError
from kwokctl.json_value import Json
from kwokctl.kube.resource import LEASES, NODE_LEASES

_NOTHING: Mapping[str, str] = {}


class OwnLease:
    """One lease in the namespace of node leases, and how it was when it was last seen."""

    def __init__(self, context: ControllerContext, name: str, role: str, seconds: int) -> None:
        """Write the lease called `name`, with `role` as its label; it lasts `seconds`."""
        self._context = context
        self._role = role
        self._seconds = seconds
        self.stored = StoredLease(name=name)

    def note(self, stored: StoredLease) -> None:
        """Note the lease as it is now."""
        if stored.number > self.stored.number:
            self.stored = stored

    async def write(self, holder: str, annotations: Mapping[str, str] = _NOTHING) -> None:
        """Write it as held by `holder` from now on; nothing is overwritten that was not seen.

        Raises RequestError. If it was changed meanwhile it has been read again by then.
        """
        stored, lease = self.stored, self._lease(holder, annotations)
        (answer,) = await self._context.plane.renew([Renewal(stored.name, stored.version, lease)])
        if answer.error is not None:
            if error_kind(answer.error) in {ErrorKind.CONFLICT, ErrorKind.GONE} or (
                answer.error.reason == "AlreadyExists"
            ):
                await self._read()
            raise answer.error
        self.stored = _written(lease, answer, self.stored)

    async def _read(self) -> None:
        name = self.stored.name
        try:
            raw = await self._context.reader.get(ObjectKey(LEASES, NODE_LEASES, name))
        except RequestError as e:
            if error_kind(e) is not ErrorKind.GONE:
                raise
            self.stored = StoredLease(name=name)
        else:
            self.stored = read_lease(raw)

    def _lease(self, holder: str, annotations: Mapping[str, str]) -> Lease:
        stored, now = self.stored, self._context.wall()
        metadata: dict[str, Json] = {
            "name": stored.name,
            "namespace": NODE_LEASES,
            "labels": {LABEL: self._role},
            "annotations": dict(annotations),
        }
        if stored.version:
            metadata |= {"uid": stored.uid, "creationTimestamp": stored.created}
        is_same = stored.holder == holder
        return Lease(
            metadata,
            holder=holder,
            duration=self._seconds,
            acquired=stored.acquired if is_same and stored.acquired else now,
            renewed=now,
            transitions=stored.transitions + (bool(stored.holder) and not is_same),
        )


def _written(lease: Lease, answer: Renewed, before: StoredLease) -> StoredLease:
    made = before if before.version else answer.found or before
    return StoredLease(
        version=answer.version,
        name=before.name,
        uid=made.uid,
        created=made.created,
        holder=lease.holder,
        duration=lease.duration,
        acquired=lease.acquired,
        renewed=lease.renewed,
        transitions=lease.transitions,
    )
