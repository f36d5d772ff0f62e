"""`python -P -m kwokctl.host.processes.preloaded MODULE…`: a Python that loads programs of kwokctl once, and forks them.

It reads requests from the socket that it has as descriptor 3, until its other end is closed. A request is JSON, with
two descriptors: the lock under which the program is launched, and a pipe. The child writes its pid to the pipe once
a pid file names it; with an error it only closes that.
"""

import gc
import os
import signal
import socket
import sys
from importlib import import_module
from pathlib import Path
from typing import NoReturn

import msgspec

from kwokctl.host.processes.process_title import show_words
from kwokctl.host.processes.supervise import this_process

SOCKET = 3
"""The descriptor at which this program finds its requests."""
_MOST = 1 << 20
"""Bytes of a request at most."""


class ProgramRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The request to start one program."""

    module: str
    """The package that is run: it is loaded, and its `__main__` has a function `main`."""
    argv: list[str]
    env: dict[str, str]
    """The variables that are added to the environment."""
    folder: str
    pid_file: str
    log: str


def main() -> None:
    """Load what the arguments name, then fork what is requested."""
    # Modules leave a thousand useless objects: looking for these takes a fifth of the time of loading.
    gc.disable()
    for module in sys.argv[1:]:
        import_module(f"{module}.__main__")
    # Garbage collection does not write to frozen objects, so all forks share their memory.
    gc.freeze()
    gc.enable()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(fileno=SOCKET) as requests:
        while True:
            body, descriptors, _, _ = socket.recv_fds(requests, _MOST, 2)
            if not body:
                return
            if os.fork() == 0:
                requests.close()
                _become(msgspec.json.decode(body, type=ProgramRequest), *descriptors)
            for descriptor in descriptors:
                os.close(descriptor)


def _become(request: ProgramRequest, lock: int, answer: int) -> NoReturn:
    """Become the program that is requested, as if a shell had started it."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    os.chdir(request.folder)
    _redirect(request.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 1, 2)
    os.environ.update(request.env)
    Path(request.pid_file).write_text(str(this_process()), encoding="ascii")
    try:
        show_words(request.argv)
        is_shown = True
    except OSError:
        # Not every kernel allows it. The program can be started anew, by the same process.
        is_shown = False
    os.write(answer, b"%d" % os.getpid())
    os.close(answer)
    os.close(lock)
    if not is_shown:
        _redirect(os.devnull, os.O_RDONLY, 0)
        os.execve(request.argv[0], request.argv, os.environ)  # noqa: S606 - the command is kwokctl's own, from the launch file
    sys.argv = [request.module, *request.argv[request.argv.index(request.module) + 1 :]]
    sys.exit(sys.modules[f"{request.module}.__main__"].main())


def _redirect(path: str, flags: int, *descriptors: int) -> None:
    opened = os.open(path, flags, 0o600)
    for descriptor in descriptors:
        os.dup2(opened, descriptor)
    os.close(opened)


if __name__ == "__main__":
    main()
