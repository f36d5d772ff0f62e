"""What all engines share."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from kwokctl.controller.engine.step_player import StepPlayer
from kwokctl.controller.metrics import Metrics
from kwokctl.controller.object_reader import ObjectReader
from kwokctl.controller.scheduling.delay_queue import DelayQueue


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineContext:
    """Time, chance, the cluster, and what is counted."""

    delay_queue: DelayQueue
    step_player: StepPlayer
    reader: ObjectReader
    metrics: Metrics
    random: Random
    wall: Callable[[], float]
    """The time of day as a POSIX time stamp."""
