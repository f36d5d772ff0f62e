"""Knows programs by their pid files: whether they live, when they end, how they are stopped.

A number alone proves nothing: it may belong to a later process, or to a zombie. So a pid file
holds number, start time and boot, and signals go through a pidfd, which cannot change its owner.
"""

import asyncio
import os
import signal
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_DEAD = frozenset("ZXx")


@dataclass(frozen=True, slots=True)
class Process:
    """One process of this boot, or of an earlier one."""

    pid: int
    start: str
    """Clock ticks between boot and its start."""
    boot: str

    @property
    def is_alive(self) -> bool:
        """Whether this very process still runs; a zombie does not."""
        if self.boot != _BOOT_ID.read_text(encoding="ascii").strip():
            return False
        try:
            stat = Path(f"/proc/{self.pid}/stat").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return False
        # The name, in parentheses, may itself hold spaces and parentheses.
        fields = stat.rpartition(")")[2].split()
        return fields[0] not in _DEAD and fields[19] == self.start


def read_pid_file(path: Path) -> Process | None:
    """Return the process that a pid file tells of; None if there is none, or not yet all of it."""
    try:
        words = path.read_text(encoding="ascii", errors="replace").split()
    except FileNotFoundError:
        return None
    if len(words) != 3 or not words[0].isdigit():
        return None
    return Process(int(words[0]), words[1], words[2])


def is_running(pid_file: Path) -> bool:
    """Tell whether the process of a pid file runs."""
    process = read_pid_file(pid_file)
    return process is not None and process.is_alive


async def launched(pid_file: Path, pid: int) -> bool:
    """Wait until a process just launched has written its pid file; False if it ended before."""
    while True:
        process = read_pid_file(pid_file)
        if process and process.pid == pid:
            return True
        if not reap(pid):
            return False
        await asyncio.sleep(0.001)


def reap(pid: int) -> bool:
    """Take note of the end of a child of ours; return whether it still runs."""
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == 0
    except ChildProcessError:
        return False


async def stop(process: Process, grace: float) -> None:
    """Ask a process to end, and kill its session when it has not after `grace` seconds."""
    descriptor = _open(process)
    if descriptor is None:
        return
    try:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(descriptor, signal.SIGTERM)
        try:
            async with asyncio.timeout(grace):
                await _ended(descriptor)
        except TimeoutError:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await _ended(descriptor)
    finally:
        os.close(descriptor)
        reap(process.pid)


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
