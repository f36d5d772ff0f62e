"""What the parts of the controller share."""

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from kwokctl.controller.metrics import controller_metrics
from kwokctl.controller.object_reader import ObjectReader
from kwokctl.controller.object_warnings import ObjectWarnings
from kwokctl.controller.scheduling.delay_queue import DelayQueue
from kwokctl.controller.write_errors import RightsLog
from kwokctl.dataplane.port import KubeletWriter
from kwokctl.embedded.metrics import Metrics


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerContext:
    """The cluster, chance, time, what is due, and what is counted; made on the running loop."""

    plane: KubeletWriter
    reader: ObjectReader
    random: Random
    wall: Callable[[], float]
    """The time of day as a POSIX time stamp: what is written into objects."""
    delay_queue: DelayQueue = field(default_factory=DelayQueue)
    metrics: Metrics = field(default_factory=controller_metrics)
    rights: RightsLog = field(default_factory=RightsLog)
    warnings: ObjectWarnings = field(default_factory=ObjectWarnings)
