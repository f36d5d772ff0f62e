"""The objects of a record that make or describe gangs."""

from collections.abc import Callable
from typing import Any

import msgspec

from kwokctl.measure.record.gang_lines import GangChange, GangGone, GangSeen

COMPLETE, FAILED, SUSPENDED, ADMITTED = "Complete", "Failed", "Suspended", "Admitted"
"""The states of such objects, beside the empty one."""


class GangObject(msgspec.Struct, gc=False, kw_only=True):
    """The times at which such an object has reached its states; None for those that it was not seen to reach."""

    kind: str
    """Its kind, as kubectl knows it: `podgroups.scheduling.k8s.io`."""
    uid: str
    namespace: str
    name: str
    owner_uid: str
    pods: int
    """The number of pods that a gang needs; 0 if the object does not say."""
    labels: dict[str, str]
    state: str
    created: int | None
    admitted: int | None = None
    done: int | None = None
    failed: int | None = None
    gone: int | None = None


class GangHistory:
    """All such objects of a record."""

    def __init__(self) -> None:
        self.objects: dict[int, GangObject] = {}
        self.named: dict[tuple[str, str, str], GangObject] = {}
        """By kind, namespace and name."""
        self.takers: dict[type, Callable[[Any], None]] = {
            GangSeen: self._seen,
            GangChange: self._change,
            GangGone: self._gone,
        }

    def _seen(self, line: GangSeen) -> None:
        found = GangObject(
            kind=line.kind,
            uid=line.uid,
            namespace=line.namespace,
            name=line.name,
            owner_uid=line.owner_uid,
            pods=line.pods,
            labels=line.labels,
            state=line.state,
            created=None if line.listed else line.time,
        )
        self.objects[line.number] = found
        self.named[line.kind, line.namespace, line.name] = found

    def _change(self, line: GangChange) -> None:
        found = self.objects[line.number]
        found.state, found.pods = line.state, line.pods
        if line.state == ADMITTED and found.admitted is None:
            found.admitted = line.time
        elif line.state == COMPLETE and found.done is None:
            found.done = line.time
        elif line.state == FAILED and found.failed is None:
            found.failed = line.time

    def _gone(self, line: GangGone) -> None:
        self.objects[line.number].gone = line.time
