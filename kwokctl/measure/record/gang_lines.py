"""The lines of a record about gangs: the objects that say which pods belong together, and how many."""

from kwokctl.measure.record.line import Line

COMPLETE, FAILED, SUSPENDED, ADMITTED = "Complete", "Failed", "Suspended", "Admitted"
"""The states of objects that make or describe gangs, beside the empty one."""


class GangSeen(Line, tag="G"):
    """An object that makes or describes gangs is seen for the first time."""

    time: int
    number: int
    uid: str
    namespace: str
    name: str
    owner_uid: str
    pods: int
    """The number of pods that a gang needs; 0 if the object does not say."""
    labels: dict[str, str]
    state: str
    """Empty, or `Complete`, `Failed`, `Suspended` or `Admitted`."""
    listed: bool
    kind: str
    """Its kind, as kubectl knows it: `podgroups.scheduling.k8s.io`."""
    training: str = ""
    """The annotation with the state of its training; empty if it has none."""


class GangChange(Line, tag="H"):
    """Such an object has changed."""

    time: int
    number: int
    state: str
    pods: int
    training: str = ""


class GangGone(Line, tag="I"):
    """Such an object exists no longer."""

    time: int
    number: int
