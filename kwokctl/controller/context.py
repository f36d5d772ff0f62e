"""The services that all parts of the controller share."""

from collections.abc import Callable
from random import Random

import msgspec

from kwokctl.controller.metrics import controller_metrics
from kwokctl.controller.object_reader import ObjectReader
from kwokctl.controller.object_warnings import ObjectWarnings
from kwokctl.controller.scheduling.delay_queue import DelayQueue
from kwokctl.controller.write_errors import RightsLog
from kwokctl.dataplane.port import KubeletWriter
from kwokctl.embedded.process_metrics import Metrics


class ControllerContext(msgspec.Struct, frozen=True, kw_only=True):
    """The cluster, chance, time, what is due, and what is counted; made on the running loop."""

    plane: KubeletWriter
    reader: ObjectReader
    random: Random
    wall: Callable[[], float]
    """The time of day as a POSIX time stamp: what is written into objects."""
    delay_queue: DelayQueue = msgspec.field(default_factory=DelayQueue)
    metrics: Metrics = msgspec.field(default_factory=controller_metrics)
    rights: RightsLog = msgspec.field(default_factory=RightsLog)
    warnings: ObjectWarnings = msgspec.field(default_factory=ObjectWarnings)
    has_plans: bool = True
    """Whether pods that are alike are played by plans where writes go to etcd; a test compares both."""
