"""Turns what is seen of the objects that make or describe gangs into lines.

Their fields are those of https://github.com/kubernetes-sigs/jobset (v1alpha2),
https://github.com/kubernetes-sigs/lws (v1), https://kueue.sigs.k8s.io (v1beta1 and v1beta2),
https://github.com/kubernetes-sigs/scheduler-plugins (v1alpha1), https://volcano.sh (v1beta1) and, in the group
scheduling.k8s.io, of Kubernetes v1.36 (v1alpha2).
"""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from kwokctl.fleet.gangs import (
    JOB_SETS,
    LEADER_WORKER_SETS,
    PLUGIN_POD_GROUPS,
    POD_GROUPS,
    VOLCANO_POD_GROUPS,
    WORKLOADS,
)
from kwokctl.measure.record.gang_lines import (
    ADMITTED,
    COMPLETE,
    FAILED,
    SUSPENDED,
    GangChange,
    GangGone,
    GangSeen,
)
from kwokctl.measure.record.record_lines import Lines
from kwokctl.measure.watching.jobs import JobSpec, SeenStatus
from kwokctl.measure.watching.numbered_texts import Emit
from kwokctl.measure.watching.object_states import (
    Stateful,
    StateLines,
    StateMetadata,
    StateTracker,
)

_JOB_SET_STATES = {"Completed": COMPLETE, "Failed": FAILED, "Suspended": SUSPENDED}
_WORKLOAD_STATES = {"Finished": COMPLETE, "Admitted": ADMITTED}
_PHASES = {"Finished": COMPLETE, "Completed": COMPLETE, "Failed": FAILED}
"""The phases of PodGroups: scheduler-plugins says `Finished`, Volcano `Completed`."""


class _Template(msgspec.Struct, gc=False):
    spec: JobSpec = msgspec.field(default_factory=JobSpec)


class _ReplicatedJob(msgspec.Struct, gc=False):
    replicas: int = 1
    template: _Template = msgspec.field(default_factory=_Template)


class _JobSetSpec(msgspec.Struct, gc=False, rename="camel"):
    replicated_jobs: list[_ReplicatedJob] = []


class SeenJobSet(msgspec.Struct, gc=False):
    """The recorded fields of a JobSet."""

    metadata: StateMetadata
    spec: _JobSetSpec = msgspec.field(default_factory=_JobSetSpec)
    status: SeenStatus = msgspec.field(default_factory=SeenStatus)

    @property
    def pods(self) -> int:
        """The number of pods that all its Jobs run at once."""
        return sum(each.replicas * each.template.spec.at_once for each in self.spec.replicated_jobs)

    @property
    def state(self) -> str:
        """The state that its conditions tell."""
        return _state(_JOB_SET_STATES, self.status.true)


class _Group(msgspec.Struct, gc=False):
    size: int = 1


class _LeaderWorkerSetSpec(msgspec.Struct, gc=False, rename="camel"):
    leader_worker_template: _Group = msgspec.field(default_factory=_Group)


class SeenLeaderWorkerSet(msgspec.Struct, gc=False):
    """The recorded fields of a LeaderWorkerSet."""

    metadata: StateMetadata
    spec: _LeaderWorkerSetSpec = msgspec.field(default_factory=_LeaderWorkerSetSpec)
    state: str = ""
    """It has none: it runs until it is deleted."""

    @property
    def pods(self) -> int:
        """The number of pods of each of its groups."""
        return self.spec.leader_worker_template.size


class _PodSet(msgspec.Struct, gc=False):
    count: int = 0


class _WorkloadSpec(msgspec.Struct, gc=False, rename="camel"):
    pod_sets: list[_PodSet] = []


class SeenWorkload(msgspec.Struct, gc=False):
    """The recorded fields of a Workload of Kueue."""

    metadata: StateMetadata
    spec: _WorkloadSpec = msgspec.field(default_factory=_WorkloadSpec)
    status: SeenStatus = msgspec.field(default_factory=SeenStatus)

    @property
    def pods(self) -> int:
        """The number of pods that it asks for."""
        return sum(each.count for each in self.spec.pod_sets)

    @property
    def state(self) -> str:
        """The state that its conditions tell."""
        return _state(_WORKLOAD_STATES, self.status.true)


class _MinMember(msgspec.Struct, gc=False, rename="camel"):
    min_member: int = 0


class _Phase(msgspec.Struct, gc=False):
    phase: str = ""


class SeenPodGroup(msgspec.Struct, gc=False):
    """The recorded fields of a PodGroup of scheduler-plugins or of Volcano."""

    metadata: StateMetadata
    spec: _MinMember = msgspec.field(default_factory=_MinMember)
    status: _Phase = msgspec.field(default_factory=_Phase)

    @property
    def pods(self) -> int:
        """The number of pods that are scheduled together."""
        return self.spec.min_member

    @property
    def state(self) -> str:
        """The state that its phase tells."""
        return _state(_PHASES, {self.status.phase})


class _GangPolicy(msgspec.Struct, gc=False, rename="camel"):
    min_count: int = 0


class _SchedulingPolicy(msgspec.Struct, gc=False):
    gang: _GangPolicy = msgspec.field(default_factory=_GangPolicy)


class _NativeSpec(msgspec.Struct, gc=False, rename="camel"):
    scheduling_policy: _SchedulingPolicy = msgspec.field(default_factory=_SchedulingPolicy)


class SeenNativePodGroup(msgspec.Struct, gc=False):
    """The recorded fields of a PodGroup of Kubernetes itself."""

    metadata: StateMetadata
    spec: _NativeSpec = msgspec.field(default_factory=_NativeSpec)
    state: str = ""
    """It has none that tells whether its pods have ended."""

    @property
    def pods(self) -> int:
        """The number of pods that are scheduled together; 0 if its policy is not that of a gang."""
        return self.spec.scheduling_policy.gang.min_count


class GangKind(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of objects that make or describe gangs."""

    name: str
    """As kubectl knows it, such as `jobsets.jobset.x-k8s.io`."""
    kind: str
    seen: type[Stateful]

    @property
    def group(self) -> str:
        """The API group."""
        return self.name.partition(".")[2]

    @property
    def plural(self) -> str:
        """The word for it in paths."""
        return self.name.partition(".")[0]


GANG_KINDS = (
    GangKind(name=JOB_SETS, kind="JobSet", seen=SeenJobSet),
    GangKind(name=LEADER_WORKER_SETS, kind="LeaderWorkerSet", seen=SeenLeaderWorkerSet),
    GangKind(name=WORKLOADS, kind="Workload", seen=SeenWorkload),
    GangKind(name=POD_GROUPS, kind="PodGroup", seen=SeenNativePodGroup),
    GangKind(name=PLUGIN_POD_GROUPS, kind="PodGroup", seen=SeenPodGroup),
    GangKind(name=VOLCANO_POD_GROUPS, kind="PodGroup", seen=SeenPodGroup),
)
"""All of which objects are watched. A Workload of Kubernetes itself only has templates of its PodGroups."""


class GangTracker(StateTracker):
    """Writes a line for each change of the recorded fields of an object.

    Objects that were there before are recorded, too: pods of the run may belong to them.
    """

    def __init__(
        self, emit: Emit, kind: GangKind, numbers: Iterator[int], *, labels: Sequence[str]
    ) -> None:
        """Number objects by `numbers`, which all kinds share."""

        def seen(*fields: object, training: str) -> Lines:
            return GangSeen(*fields, kind=kind.name, training=training)  # type: ignore[arg-type,misc]  # those that StateTracker gives

        lines = StateLines(seen=seen, changed=GangChange, gone=GangGone)
        super().__init__(emit, lines, labels=labels, takes_existing=True, numbers=numbers)
        self.plural = kind.name
        self.decode = msgspec.json.Decoder(kind.seen).decode


def _state(states: Mapping[str, str], found: set[str]) -> str:
    """Return the first state of which the word was found."""
    return next((state for word, state in states.items() if word in found), "")
