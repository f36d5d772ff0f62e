"""The history of an object that makes pods, or describes which of them belong together: a Job, or one of a gang."""

import msgspec

from kwokctl.measure.record.gang_lines import ADMITTED, COMPLETE, FAILED, GangChange, GangSeen
from kwokctl.measure.record.record_lines import JobChange, JobSeen


class ObjectHistory(msgspec.Struct, gc=False, kw_only=True):
    """The times at which such an object has reached its states; None for those that it was not seen to reach."""

    kind: str
    """Its kind, as kubectl knows it: `podgroups.scheduling.k8s.io`."""
    uid: str
    namespace: str
    name: str
    owner_uid: str
    pods: int
    """The number of pods that belong together; 0 if the object does not say."""
    labels: dict[str, str]
    state: str
    created: int | None
    admitted: int | None = None
    done: int | None = None
    """The time at which it was complete."""
    failed: int | None = None
    gone: int | None = None
    training: str = ""
    """The last state of its training; empty if it says none."""

    @classmethod
    def begun(cls, line: JobSeen | GangSeen, kind: str) -> "ObjectHistory":
        """Begin with the line in which it was seen first."""
        return cls(
            kind=kind,
            uid=line.uid,
            namespace=line.namespace,
            name=line.name,
            owner_uid=line.owner_uid,
            pods=line.pods,
            labels=line.labels,
            state=line.state,
            created=None if line.listed else line.time,
            training=line.training,
        )

    def follow(self, line: JobChange | GangChange) -> None:
        """Note a change, and which state it has reached for the first time."""
        self.state, self.pods, self.training = line.state, line.pods, line.training
        if line.state == ADMITTED and self.admitted is None:
            self.admitted = line.time
        elif line.state == COMPLETE and self.done is None:
            self.done = line.time
        elif line.state == FAILED and self.failed is None:
            self.failed = line.time

    @property
    def is_settled(self) -> bool:
        """Whether nothing more is expected of it."""
        return self.gone is not None or self.state in (COMPLETE, FAILED)
