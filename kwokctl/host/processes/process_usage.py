"""Measures how much processor time and memory processes take, from `/proc` (proc(5))."""

import asyncio
import mmap
import os
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

import msgspec

from kwokctl.model import ComponentName

_PARENT, _UTIME, _STIME, _START, _RSS = 1, 11, 12, 19, 21
"""Places in `/proc/PID/stat` after the name of the program."""
_PID_BITS = 22
"""No process has a larger number (PID_MAX_LIMIT,
https://man7.org/linux/man-pages/man5/proc_sys_kernel.5.html)."""
_DEAD = frozenset("ZXx")
"""The states of a process that has ended."""
_STOPPED = "T"
"""The state of a process that SIGSTOP has stopped."""


class Usage(msgspec.Struct, frozen=True):
    """The CPU time and the memory that some processes take together."""

    cpu: float
    """Processors: 0.5 is half of one."""
    memory: int
    """Bytes in memory."""


class ProcessTotals(msgspec.Struct, frozen=True):
    """The CPU time and the memory of some processes together, since they began."""

    identity: int
    """A number that no other process of this boot has: of the oldest of them."""
    cpu: float
    """Seconds."""
    memory: int
    """Bytes in memory now."""
    is_stopped: bool
    """Whether a signal has stopped one of them."""


async def measure(
    processes: Mapping[ComponentName, Collection[int]], seconds: float
) -> dict[ComponentName, Usage]:
    """Watch processes for some time; what cannot be seen, or ends meanwhile, is left out."""
    loop = asyncio.get_running_loop()
    began, before = loop.time(), look(processes)
    await asyncio.sleep(seconds)
    after, passed = look(processes), loop.time() - began
    return {
        name: Usage(cpu=(spent.cpu - before[name].cpu) / passed, memory=spent.memory)
        for name, spent in after.items()
        if name in before
    }


def resident(processes: Iterable[int]) -> int:
    """Return how many bytes of processes are in memory; what cannot be seen counts nothing."""
    return sum(found.memory for found in map(_one, processes) if found)


def look(
    processes: Mapping[ComponentName, Collection[int]],
) -> dict[ComponentName, ProcessTotals]:
    """Return the totals of processes; those that cannot be seen are left out."""
    found = {name: [*filter(None, map(_one, pids))] for name, pids in processes.items()}
    return {
        name: ProcessTotals(
            min(one.identity for one in each),
            sum(one.cpu for one in each),
            sum(one.memory for one in each),
            any(one.is_stopped for one in each),
        )
        for name, each in found.items()
        if each
    }


def _one(pid: int) -> ProcessTotals | None:
    fields = _fields(pid)
    if not fields or fields[0] in _DEAD:
        return None
    ticks = int(fields[_UTIME]) + int(fields[_STIME])
    each_second = os.sysconf("SC_CLK_TCK")
    identity = int(fields[_START]) << _PID_BITS | pid
    memory = int(fields[_RSS]) * mmap.PAGESIZE
    return ProcessTotals(identity, ticks / each_second, memory, fields[0] == _STOPPED)


def descendants(pid: int) -> dict[int, str]:
    """Return the programs of a process and of all that it has started, by their ids."""
    children: dict[int, list[int]] = {}
    for each in (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()):
        if fields := _fields(each):
            children.setdefault(int(fields[_PARENT]), []).append(each)
    found, left = {}, [pid]
    while left:
        each = left.pop()
        if program := _program(each):
            found[each] = program
        left += children.get(each, ())
    return found


def _program(pid: int) -> str:
    """Return the name of the program that a process runs; empty for one that has ended."""
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return ""
    return os.fsdecode(command.partition(b"\0")[0]).rpartition("/")[2]


def _fields(pid: int) -> list[str]:
    """Return what follows the name of the program in `/proc/PID/stat`; nothing if it has ended."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return text.rpartition(")")[2].split()
