"""The services that all parts of the controller share."""

from collections.abc import Callable
from random import Random

import msgspec

from kwokctl.controller.known_faults.open_faults import OpenFaults
from kwokctl.controller.known_trainings.trainings import Trainings
from kwokctl.controller.object_reader import ObjectReader
from kwokctl.controller.object_warnings import ObjectWarnings
from kwokctl.controller.scheduling.delay_queue import DelayQueue
from kwokctl.controller.write_errors import RightsLog
from kwokctl.dataplane.port import KubeletWriter
from kwokctl.embedded.process_metrics import Help, Metrics

_MEANINGS: Help = {
    "kwok_controller_objects": ("gauge", "Objects that are watched, by kind."),
    "kwok_controller_waiting": ("gauge", "Objects and leases that wait for their delay."),
    "kwok_controller_queue_length": ("gauge", "Objects that are due and wait for a free player."),
    "kwok_controller_plays_total": ("counter", "Stages played, by stage and outcome."),
    "kwok_controller_failed_matches_total": (
        "counter",
        "Stages left out for an object because of an error in an expression, by stage.",
    ),
    "kwok_controller_slowed_plays_total": (
        "counter",
        "Stages that had to wait because too many followed each other at once, by stage.",
    ),
    "kwok_controller_writes_total": ("counter", "Writes sent to the cluster, by verb."),
    "kwok_controller_writes_saved_total": ("counter", "Writes not sent: nothing would change."),
    "kwok_controller_play_lag_seconds_sum": ("counter", "Time from being due to being played."),
    "kwok_controller_leases": ("gauge", "Node leases, by state."),
    "kwok_controller_lease_writes_total": ("counter", "Lease writes, by outcome."),
    "kwok_controller_members": ("gauge", "Controllers that share the nodes; 0 without sharing."),
    "kwok_controller_pod_addresses": ("gauge", "Pod addresses in use."),
    "kwok_controller_watch_delay_seconds": (
        "gauge",
        "Time from a write to etcd to its event in the watch.",
    ),
    "kwok_controller_unseen_writes": ("gauge", "Writes to etcd that the watch has not shown yet."),
    "kwok_controller_held_writes_total": ("counter", "Writes that waited for the watch to follow."),
    "apiserver_terminated_watchers_total": ("counter", "Watches that the API server has ended."),
}


def controller_metrics() -> Metrics:
    """Return the metrics of a controller, all of them zero."""
    return Metrics(_MEANINGS)


class ControllerContext(msgspec.Struct, frozen=True, kw_only=True):
    """The cluster, chance, time, what is due, and what is counted; made on the running loop."""

    plane: KubeletWriter
    reader: ObjectReader
    random: Random
    wall: Callable[[], float]
    """The time of day as a POSIX time stamp: what is written into objects."""
    fault_dialects: tuple[str, ...] = ()
    """The dialects of faults that name none; empty for the usual ones."""
    faults: OpenFaults
    """The Faults of the cluster, and whom they hit."""
    trainings: Trainings = msgspec.field(default_factory=Trainings)
    """The pods that train together."""
    delay_queue: DelayQueue = msgspec.field(default_factory=DelayQueue)
    metrics: Metrics = msgspec.field(default_factory=controller_metrics)
    rights: RightsLog = msgspec.field(default_factory=RightsLog)
    warnings: ObjectWarnings = msgspec.field(default_factory=ObjectWarnings)
    has_plans: bool = True
    """Whether pods that are alike are played by plans where writes go to etcd; a test compares both."""
