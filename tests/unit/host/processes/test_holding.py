"""A pipe that stands for the last file that a program reads."""

import os
import select
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from kwokctl.host.processes.holding import HeldFile

_PATIENCE = 60_000
"""Milliseconds."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "key"
    file.write_bytes(b"key")
    return file


@pytest.fixture
def fork() -> Iterator[list[int]]:
    """The processes that a test has forked: they are ended and waited for."""
    forked: list[int] = []
    yield forked
    for pid in forked:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_program_gets_its_file_while_a_fork_of_this_process_goes_on(
    file: Path, fork: list[int]
) -> None:
    hold = HeldFile(file)
    pid = os.fork()
    if not pid:
        signal.pause()
        os._exit(0)
    fork.append(pid)

    hold.let_go()

    with os.fdopen(hold.reads, "rb", buffering=0) as pipe:
        assert pipe.read(10) == b"key"
        watched = select.poll()
        watched.register(pipe, 0)
        assert watched.poll(_PATIENCE) == [(pipe.fileno(), select.POLLHUP)]
