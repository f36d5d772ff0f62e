"""Measures how much processor time and memory processes take, from `/proc` (proc(5))."""

import asyncio
import os
import resource
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from kwokctl.model import ComponentName

_TICKS = os.sysconf("SC_CLK_TCK")
_UTIME, _STIME, _RSS = 11, 12, 21
"""Places in `/proc/PID/stat` after the name of the program."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What some processes take together."""

    cpu: float
    """Processors: 0.5 is half of one."""
    memory: int
    """Bytes in memory."""


async def measure(
    processes: Mapping[ComponentName, Collection[int]], seconds: float
) -> dict[ComponentName, Usage]:
    """Watch processes for some time; what cannot be seen, or ends meanwhile, is left out."""
    loop = asyncio.get_running_loop()
    began, before = loop.time(), _look(processes)
    await asyncio.sleep(seconds)
    after, passed = _look(processes), loop.time() - began
    return {
        name: Usage(cpu=(ticks - before[name][0]) / _TICKS / passed, memory=memory)
        for name, (ticks, memory) in after.items()
        if name in before
    }


def _look(
    processes: Mapping[ComponentName, Collection[int]],
) -> dict[ComponentName, tuple[int, int]]:
    """Return processor time in ticks, and memory in bytes, of those that can be seen."""
    found = {name: [*filter(None, map(_one, pids))] for name, pids in processes.items()}
    return {
        name: (sum(ticks for ticks, _ in each), sum(memory for _, memory in each))
        for name, each in found.items()
        if each
    }


def _one(pid: int) -> tuple[int, int] | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()
    return int(fields[_UTIME]) + int(fields[_STIME]), int(fields[_RSS]) * resource.getpagesize()
