"""The checks of a machine, in the order in which they are carried out."""

from collections.abc import Sequence

from kwokctl.clusters.doctor.check import Check
from kwokctl.clusters.doctor.machine import (
    clock,
    disk,
    free_ports,
    inotify,
    limits,
    memory,
    orphans,
    programs,
    rights,
    runtimes,
    sites,
    store,
)
from kwokctl.clusters.doctor.machine.checked_machine import Machine

CHECKS: Sequence[Check[Machine]] = tuple(
    module.CHECK
    for module in (
        runtimes, programs, store, sites, rights, disk, memory, limits, inotify, free_ports, clock, orphans,
    )
)  # fmt: skip
ELSEWHERE: Sequence[Check[Machine]] = (runtimes.CHECK,)
"""The checks for machines on which clusters cannot run: others would not help there."""
