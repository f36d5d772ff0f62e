"""Checks, awaits and stops processes that are identified by their pid files.

A pid alone is not enough: it may belong to a later process, or to a zombie. So a pid file
holds number, start time and boot. A pidfd cannot change its owner: with it open, the process is
looked at again before it is signalled, and through it its end is seen.
"""

import asyncio
import os
import select
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from kwokctl.host.processes.launcher import is_on_its_way

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_DEAD = frozenset("ZXx")
_REMOVED = " (deleted)"
"""The text that the kernel adds to the name of a deleted folder (proc(5))."""
_POLL = 0.01
_MOMENT = 0.0005
_LAST_PID = 4_194_304
"""No process has a larger number (PID_MAX_LIMIT,
https://man7.org/linux/man-pages/man5/proc_sys_kernel.5.html)."""


class Process(msgspec.Struct, frozen=True):
    """One process of this boot, or of an earlier one."""

    pid: int
    start: str
    """Clock ticks between boot and its start."""
    boot: str

    @property
    def is_alive(self) -> bool:
        """Whether this very process still runs; a zombie does not.

        One that does not lead a session was never launched here, whatever its pid file says.
        """
        if self.boot != _boot():
            return False
        try:
            fields = _stat_fields(self.pid)
        except OSError:
            return False
        leads = fields[3] == str(self.pid)
        return leads and fields[0] not in _DEAD and fields[19] == self.start

    @property
    def words(self) -> list[str]:
        """The command that it is running; empty if it has ended."""
        try:
            command = Path(f"/proc/{self.pid}/cmdline").read_bytes()
        except OSError:
            return []
        return os.fsdecode(command).split("\0")[:-1] if self.is_alive else []

    def __str__(self) -> str:
        """Write it as a pid file has it."""
        return f"{self.pid} {self.start} {self.boot}\n"


def this_process() -> Process:
    """Return the process that asks."""
    pid = os.getpid()
    return Process(pid, _stat_fields(pid)[19], _boot())


def read_pid_file(path: Path) -> Process | None:
    """Return the process of a pid file; None if the file is missing or incomplete."""
    try:
        words = path.read_text(encoding="ascii", errors="replace").split()
    except FileNotFoundError:
        return None
    if len(words) != 3 or not words[0].isdigit() or not 0 < int(words[0]) <= _LAST_PID:
        return None
    return Process(int(words[0]), words[1], words[2])


def is_running(pid_file: Path) -> bool:
    """Return whether the process of a pid file runs."""
    process = read_pid_file(pid_file)
    return process is not None and process.is_alive


def working_in(folder: Path) -> Iterator[Process]:
    """Yield the processes whose working folder this is, as far as this user may see that."""
    try:
        boot, place = _boot(), folder.stat()
    except FileNotFoundError:
        return
    for pid in _pids():
        # Most end here: other users' processes, and those that have ended meanwhile.
        with suppress(OSError):
            # A machine may have thousands of processes, and Path takes five times as long.
            if os.path.samestat(os.stat(f"/proc/{pid}/cwd"), place):  # noqa: PTH116
                yield Process(pid, _stat_fields(pid)[19], boot)


def leading_below(folder: Path) -> Iterator[tuple[Process, Path]]:
    """Yield those that lead a session and work in or below a folder, removed or not, with theirs."""
    boot = _boot()
    for pid in _pids():
        with suppress(OSError):
            place = Path(str(Path(f"/proc/{pid}/cwd").readlink()).removesuffix(_REMOVED))
            process = Process(pid, _stat_fields(pid)[19], boot)
            if place.is_relative_to(folder) and process.is_alive:
                yield process, place


def _pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208 - only names


async def launched(pid: int) -> int | None:
    """Wait until a child just launched has become its program; its exit status if it ended first.

    The status is negative if a signal ended it.
    """
    while True:
        # Asked before its end is: a child that fails in between is then seen to have ended.
        on_its_way = is_on_its_way(pid)
        status = _exit_status(pid)
        if status is not None or not on_its_way:
            return status
        await asyncio.sleep(_MOMENT)


def _boot() -> str:
    return _BOOT_ID.read_text(encoding="ascii").strip()


def _exit_status(pid: int) -> int | None:
    ended, status = os.waitpid(pid, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if ended else None


def reap(pid: int) -> bool:
    """Reap a child of this process if it has ended; return whether it still runs."""
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == 0
    except ChildProcessError:
        return False


def killed_by(pid: int) -> int:
    """Reap a child of this process if it has ended; return the signal that ended it, 0 if none is known to have."""
    try:
        return -min(_exit_status(pid) or 0, 0)
    except ChildProcessError:
        return 0


async def stop(process: Process, grace: float) -> None:
    """Ask a process and its session to end, and kill what has not after `grace` seconds.

    Without any grace they are killed at once. What a program given by the user has started, a
    script say, ends with it.
    """
    descriptor = _open(process)
    if descriptor is None:
        return
    try:
        if not (grace and await _ends_within(grace, process, descriptor)):
            _signal_session(process.pid, signal.SIGKILL)
            await _ended(descriptor)
    finally:
        os.close(descriptor)
        reap(process.pid)


async def kill(process: Process) -> None:
    """Kill a process and its session, and return when it can do nothing any more.

    It need not have ended then: to give back half a gigabyte of memory takes the kernel a tenth of a second, in which it
    still holds its ports.
    """
    descriptor = _open(process)
    if descriptor is None:
        return
    try:
        _signal_session(process.pid, signal.SIGKILL)
        # Its first thread may be a zombie while others still do something: the process ends with the last one.
        while not _has_ended(descriptor) and _has_memory(process.pid):  # noqa: ASYNC110 - the kernel sets no event
            await asyncio.sleep(_MOMENT)
    finally:
        os.close(descriptor)
        reap(process.pid)


def _has_ended(descriptor: int) -> bool:
    """Return whether the process of a pidfd has ended, with all of its threads."""
    looking = select.poll()
    looking.register(descriptor, select.POLLIN)
    return bool(looking.poll(0))


def _has_memory(pid: int) -> bool:
    """Return whether a thread of a process has any: one that ends gives it up first, and runs nothing from then on.

    The sizes in /proc/PID/task/TID/statm are 0 then (proc_pid_statm(5)).
    """
    for statm in Path(f"/proc/{pid}/task").glob("*/statm"):
        with suppress(OSError):
            if not statm.read_text(encoding="ascii").startswith("0 "):
                return True
    return False


async def _ends_within(grace: float, process: Process, descriptor: int) -> bool:
    # Each gets it once: a second SIGTERM makes Kubernetes' programs drop everything and exit.
    _signal_session(process.pid, signal.SIGTERM)
    try:
        async with asyncio.timeout(grace):
            await _ended(descriptor)
            reap(process.pid)
            while _followers(process.pid):  # noqa: ASYNC110 - they are not our children
                await asyncio.sleep(_POLL)
    except TimeoutError:
        return False
    return True


def _signal_session(session: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.killpg(session, number)


def _followers(session: int) -> list[int]:
    """List the running processes of a session whose leader has ended."""
    found: list[int] = []
    try:
        os.killpg(session, 0)
    except ProcessLookupError:
        # Most often not even a zombie is left of it, and there is no need to look at every process.
        return found
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            fields = _stat_fields(int(entry.name))
            if fields[3] == str(session) and fields[0] not in _DEAD and entry.name != fields[3]:
                found.append(int(entry.name))
    return found


def _stat_fields(pid: int) -> list[str]:
    """Return the fields of /proc/PID/stat from the third on: state, parent, group, session, …"""
    stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    # The name before them, in parentheses, may itself hold spaces and parentheses.
    return stat.rpartition(")")[2].split()


def _open(process: Process) -> int | None:
    """Open a pidfd of this very process, or return None if it has ended."""
    try:
        descriptor = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return None
    # Looked at again only now: what the descriptor holds cannot be replaced any more.
    if process.is_alive:
        return descriptor
    os.close(descriptor)
    return None


async def _ended(descriptor: int) -> None:
    """Return when the process of a pidfd has ended: only then it is readable."""
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    loop.add_reader(descriptor, ended.set)
    try:
        await ended.wait()
    finally:
        loop.remove_reader(descriptor)
