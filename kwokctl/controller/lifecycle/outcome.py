"""The input of the function that computes a pod's life, beside the pod, and its result."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from kwokctl.controller.known_trainings.trainings import PodTraining
from kwokctl.controller.lifecycle.admission.device_table import Devices
from kwokctl.controller.lifecycle.containers.container import NEVER
from kwokctl.controller.lifecycle.containers.find_program import ProgramRules
from kwokctl.controller.lifecycle.ends import Eviction
from kwokctl.controller.lifecycle.pod_events import PodEvent
from kwokctl.controller.lifecycle.pod_faults.hits import NO_HITS, PodHits, WorkloadHit
from kwokctl.controller.lifecycle.preflight_run import GangChecks
from kwokctl.json_value import Json
from kwokctl.specialization.shape import ObjectForm

FINAL = frozenset(("Succeeded", "Failed"))
"""The phases that a pod never leaves."""


class Absence(msgspec.Struct, frozen=True, kw_only=True):
    """A time for which the kubelet of a pod was not there."""

    until: float
    """As a POSIX time stamp."""
    is_reboot: bool = False
    """Whether it was the whole machine, so that no container has gone on."""


class NodeOffer(msgspec.Struct, frozen=True, kw_only=True):
    """The facts about a node that the life of a pod depends on."""

    host_ips: Sequence[str] = ()
    pod_ips: Sequence[str] = ()
    refusal: tuple[str, str] | None = None
    """Reason and message, where the node does not admit the pod."""
    eviction: Eviction | None = None
    """The eviction of the pod, if its node evicts it."""
    absence: Absence | None = None
    """The absence of the node's kubelet, if it has just returned."""
    devices: Devices = ()
    """The devices of the pod; none where its status says them already, as that of pods like it."""
    shows_devices: bool = True
    """Whether the API server keeps them in the status; else an annotation says them."""
    programs: ProgramRules = ()
    """The programs of images and commands, from documents of the cluster."""
    hits: PodHits = NO_HITS
    """The faults that hit the pod."""
    training: PodTraining | None = None
    """The training of which the pod is a rank, if it is of one."""
    useless: tuple[str, ...] = ()
    """Why annotations of the pod have no effect."""
    preflight: GangChecks | None = None
    """The checks of the pod's nodes before a training, if it has some."""


NOWHERE = NodeOffer()


class PodMemory(NamedTuple):
    """State that is not in the status; another controller that takes the pod over goes on without it."""

    at: float
    """Up to when Events have been reported, as a POSIX time stamp."""
    levels: Mapping[str, int] = {}
    """The number of starts that a container's back-off counts, if it differs from the restart count."""
    arrived: Mapping[str, float] = {}
    """The time at which each ephemeral container was first seen that has not started yet."""
    blocked: float = 0.0
    """Until when a fault has kept the images that its containers wait for from being pulled."""


class PodOutcome(NamedTuple):
    """The next status of a pod, with its Events, and the time at which to look again."""

    status: Json = None
    """Its new status; None if it stays as it is."""
    annotations: Mapping[str, str] | None = None
    """Those that change with it."""
    form: ObjectForm | None = None
    """The whole pod with the new status, where a plan has made it: instead of that."""
    due: float = NEVER
    """The time at which the pod has to be computed again, as a POSIX time stamp."""
    events: tuple[PodEvent, ...] = ()
    deletes: bool = False
    """Whether it is over, and has to be deleted from the API."""
    memory: PodMemory | None = None
    """To be passed in the next time."""
    strikes: tuple[tuple[WorkloadHit, float], ...] = ()
    """The hits that the other pods of its gang get, and since when."""
    ignored: tuple[str, ...] = ()
    """Why faults that mean it have no effect on it."""
    useless: tuple[str, ...] = ()
    """Why annotations of it have no effect."""

    @property
    def is_change(self) -> bool:
        """Whether there is something to be written."""
        return (
            bool(self.events)
            or self.deletes
            or self.status is not None
            or self.form is not None
            or self.annotations is not None
        )
