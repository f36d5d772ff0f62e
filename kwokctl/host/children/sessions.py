"""Ends sessions of processes (setsid(2)): also jobs of a shell, which are groups of their own."""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path


def end_session(leader: int) -> None:
    """Kill every process of a session, except its leader, which has ended but is not waited for.

    Until it is waited for, its number cannot be that of another session.
    """
    for pid in _members(leader):
        with suppress(ProcessLookupError, PermissionError):
            _kill(pid, leader)


def _members(leader: int) -> Iterator[int]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and int(entry.name) != leader:
            with suppress(ProcessLookupError, PermissionError):
                if os.getsid(int(entry.name)) == leader:
                    yield int(entry.name)


def _kill(pid: int, leader: int) -> None:
    """Kill a process if it still is the one that was found."""
    descriptor = os.pidfd_open(pid)
    try:
        if os.getsid(pid) == leader:
            signal.pidfd_send_signal(descriptor, signal.SIGKILL)
    finally:
        os.close(descriptor)
