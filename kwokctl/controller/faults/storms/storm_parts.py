"""The parts that the players of all schedules share."""

from collections.abc import Callable

import msgspec

from kwokctl.controller.controller_context import ControllerContext
from kwokctl.controller.faults.clock_keeper import ClockKeeper
from kwokctl.controller.faults.storms.hit_nodes import HitNodes
from kwokctl.controller.faults.storms.storm_objects import StormObjects


class StormParts(msgspec.Struct, frozen=True):
    """The parts that all players share."""

    context: ControllerContext
    objects: StormObjects
    nodes: HitNodes
    clock: ClockKeeper
    is_mine: Callable[[], bool]
    """Whether this controller is the one of several that plays schedules, and knows the nodes and Faults."""
