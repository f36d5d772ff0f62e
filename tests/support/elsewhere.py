"""Commands as they end on another platform: all of them in one process, from which that is taken which
the platform lacks.

`python elsewhere.py PLATFORM` reads a list of commands as JSON, each a list of words, and prints how each
ended. Standard library and libraries choose their modules by the platform, too: those of this machine are
loaded before it is hidden.
"""

import asyncio.subprocess
import contextlib
import functools
import importlib
import io
import json
import mmap
import os
import pkgutil
import select
import signal
import socket
import ssl
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

import cryptography.x509
import platformdirs.unix
import requests
import rich.live
import typer
import urllib3

LOADED = (asyncio, cryptography, mmap, platformdirs, requests, rich, ssl, tempfile, typer, urllib3)
_OF_LINUX: Mapping[ModuleType, Sequence[str]] = {
    os: (
        "fdatasync", "memfd_create", "pidfd_open", "sched_getaffinity", "sched_getscheduler",
        "sched_param", "sched_setscheduler", "ST_NOEXEC",
    ),
    signal: ("pidfd_send_signal",),
}  # fmt: skip
_OF_UNIX: Mapping[ModuleType, Sequence[str]] = {
    os: (
        "fchmod", "fchown", "fork", "getegid", "geteuid", "getgid", "getgroups", "getloadavg",
        "getpgid", "getuid", "killpg", "openpty", "posix_spawn", "setsid", "statvfs", "sysconf", "uname",
    ),
    signal: ("ITIMER_VIRTUAL", "SIGHUP", "SIGKILL", "SIGUSR1", "SIGVTALRM", "setitimer"),
    select: ("epoll", "poll"),
}  # fmt: skip
_ABSENT_FROM: Mapping[str, Sequence[Mapping[ModuleType, Sequence[str]]]] = {
    "darwin": (_OF_LINUX,),
    "win32": (_OF_LINUX, _OF_UNIX),
}
MODULES = {
    "darwin": ("uvloop",),
    "win32": ("fcntl", "grp", "pty", "pwd", "resource", "termios", "tty", "uvloop"),
}
"""What cannot be imported on each platform."""


class _Hidden:
    """Finds no module of these names."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names

    def find_spec(
        self, name: str, _path: object = None, _target: object = None
    ) -> ModuleSpec | None:
        if name in self._names:
            raise ModuleNotFoundError(f"there is no {name}", name=name)
        return None


def pretend(platform: str) -> None:
    """Take from this process, for good, what `platform` lacks."""
    if platform == "win32":
        _without_unix_sockets()
    for name in MODULES[platform]:
        sys.modules.pop(name, None)
    for absent in _ABSENT_FROM[platform]:
        for module, names in absent.items():
            for name in names:
                delattr(module, name)
    sys.meta_path.insert(0, _Hidden(MODULES[platform]))
    sys.platform = platform


def _without_unix_sockets() -> None:
    """Hide unix sockets from all but event loops, which wake themselves by a pair of them."""
    socket.socketpair = functools.partial(socket.socketpair, socket.AF_UNIX)
    del socket.AF_UNIX


def _imported() -> Iterator[str]:
    """Import every module; yield those that fail."""
    failed: list[str] = []
    for top in map(importlib.import_module, ("kwokctl", "runtimes")):
        for module in pkgutil.walk_packages(top.__path__, f"{top.__name__}.", failed.append):
            if not module.name.endswith(".__main__"):
                try:
                    importlib.import_module(module.name)
                except Exception as e:
                    failed.append(f"{module.name}: {e!r}")
    yield from failed


def _ended(run: Callable[[Sequence[str]], int], words: Sequence[str]) -> tuple[int, str, str]:
    """Run a command; return its exit code, and what it wrote to both outputs."""
    errors = io.StringIO()
    with tempfile.TemporaryFile() as output, _as_standard_output(output.fileno()):
        with contextlib.redirect_stderr(errors):
            try:
                code = run(words)
            except BaseException:
                code = -1
                errors.write(traceback.format_exc())
        sys.stdout.flush()
        output.seek(0)
        return code, output.read().decode(errors="replace"), errors.getvalue()


@contextlib.contextmanager
def _as_standard_output(descriptor: int) -> Iterator[None]:
    """Write to another file what is meant for standard output, also by those that know only its number."""
    kept = os.dup(1)
    os.dup2(descriptor, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)


def main() -> None:
    """Pretend, import all, run all, and say how each ended."""
    commands: list[list[str]] = json.load(sys.stdin)
    pretend(sys.argv[1])
    failed = list(_imported())
    from kwokctl.cli.main import run

    print(json.dumps({"failed": failed, "ended": [_ended(run, words) for words in commands]}))


if __name__ == "__main__":
    main()
