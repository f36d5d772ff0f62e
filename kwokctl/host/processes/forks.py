"""Launches several Python programs of kwokctl as forks of one Python that has loaded them (`preloaded.py`).

Loading takes most of what they need to start, and what two of them load is the same for the most part. A launch is as
in `launcher.py`: the child writes its pid file, and holds its lock until then.
"""

import asyncio
import os
import socket
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from kwokctl.host.processes.launcher import spawn
from kwokctl.host.processes.preloaded import SOCKET, ProgramRequest

_START = [sys.executable, "-P", "-m"]
"""The beginning of the command of a kwokctl program; its package follows."""
_FEWEST = 2
"""Programs for which it is worth it."""
_MOST = 64
"""Bytes of a pid at most."""


class Forks:
    """Forks programs that were named before."""

    def __init__(self, requests: socket.socket, modules: Sequence[str]) -> None:
        self._requests = requests
        self._modules = modules

    async def launch(
        self,
        argv: list[str],
        *,
        pid_file: Path,
        log: Path,
        folder: Path,
        env: Mapping[str, str],
        lock: int,
    ) -> bool:
        """Launch a program, and return True when it runs; False if it cannot be forked.

        The arguments are those of `launcher.launch`.
        """
        module = _module(argv)
        if module not in self._modules:
            return False
        request = ProgramRequest(
            module=module,
            argv=argv,
            env=dict(env),
            folder=str(folder),
            pid_file=str(pid_file),
            log=str(log),
        )
        reads, writes = os.pipe()
        try:
            self._send(request, lock, writes)
            # Ends without a pid if the child fails, and if nothing reads the request any more.
            return bool(await asyncio.to_thread(os.read, reads, _MOST))
        except OSError:
            return False
        finally:
            os.close(reads)

    def _send(self, request: ProgramRequest, lock: int, answer: int) -> None:
        try:
            socket.send_fds(self._requests, [msgspec.json.encode(request)], [lock, answer])
        finally:
            os.close(answer)


@contextmanager
def preloaded(commands: Sequence[list[str]]) -> Iterator[Forks]:
    """Load the programs of these commands that are Python programs of kwokctl, if there are several."""
    modules = sorted({module for argv in commands if (module := _module(argv))})
    if len(modules) < _FEWEST:
        modules = []
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        if modules:
            words = [*_START, "kwokctl.host.processes.preloaded", *modules]
            _start(words, theirs)
        theirs.close()
        yield Forks(ours, modules)


def _module(argv: Sequence[str]) -> str:
    """Return the package that a command runs; empty if it is no program of kwokctl."""
    is_ours = list(argv[: len(_START)]) == _START and argv[len(_START)].startswith("kwokctl.")
    return argv[len(_START)] if is_ours else ""


def _start(words: list[str], requests: socket.socket) -> None:
    spawn(
        words,
        {},
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
        (os.POSIX_SPAWN_DUP2, 1, 2),
        (os.POSIX_SPAWN_DUP2, requests.fileno(), SOCKET),
    )
