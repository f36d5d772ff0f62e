"""What all engines share."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from kwokctl.controller.engine.step_player import Player
from kwokctl.controller.metrics import Metrics
from kwokctl.controller.reading import Reader
from kwokctl.controller.scheduling.delay_queue import Agenda


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Time, chance, the cluster, and what is counted."""

    agenda: Agenda
    player: Player
    reader: Reader
    metrics: Metrics
    random: Random
    wall: Callable[[], float]
    """The time of day as a POSIX time stamp."""
