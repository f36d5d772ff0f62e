"""The command with its modules loaded: forks it for each connection to a socket, until standard input ends.

    preloaded.py ADDRESS SCRIPT

A client sends the words, the environment and the folder to work in, with the three streams; it gets the pid, and
then the exit code. The command is a process of its own, as if its script had been started.
"""

import atexit
import gc
import json
import os
import select
import signal
import socket
import sys
import tempfile
import threading
from contextlib import suppress
from importlib import import_module
from pathlib import Path

Request = tuple[list[str], dict[str, str], str]
"""The words, the environment and the folder of a command."""
Running = dict[int, tuple[int, socket.socket]]
"""The pid and the connection of each command that runs, by a descriptor of its process."""
ADDRESS, SCRIPT = map(Path, sys.argv[1:])
sys.path[0] = str(SCRIPT.parent)

from kwokctl.cli import app, main  # noqa: E402

VERBS = (
    "cli.compose",
    "clusters.create", "clusters.delete", "clusters.scale", "clusters.scaling.set_size", "clusters.start",
    "clusters.status", "clusters.snapshot", "clusters.time_travel.rewind",
    "dataplane.etcd_plane", "dataplane.open_plane", "host.certificates.signing",
)  # fmt: skip
"""What the commands load that tests run most, once they know what they have to do."""
OTHERS = (
    "concurrent.futures.thread",
    "encodings.idna",
    "runtimes.binary.binary_runtime",
    "uvloop",
    "yaml",
)
"""What they load besides that is no module of kwokctl's."""


def preload() -> None:
    """Load what commands would load, none of which looks at the environment or starts a thread."""
    for module in (*(f"cli.verbs.{module}" for module in app.MODULES), *VERBS):
        import_module(f"kwokctl.{module}")
    for module in OTHERS:
        import_module(module)
    # Most of what is left to do for a small command: reading what the options of its name are.
    commands = app.build().commands
    for name in commands:
        commands[name]
    gc.collect()
    gc.freeze()


def serve(listener: socket.socket) -> None:
    """Return in a child that is to become the command, and when standard input has ended."""
    running: Running = {}
    while True:
        ready = select.select([listener, sys.stdin, *running], [], [])[0]
        for each in [process for process in running if process in ready]:
            report(each, *running.pop(each))
        if listener in ready:
            if command := forked(listener, running):
                listener.close()
                become_command(*command)
                return
        elif sys.stdin in ready:
            ADDRESS.unlink()
            ADDRESS.parent.rmdir()
            sys.exit()


def forked(listener: socket.socket, running: Running) -> tuple[Request, list[int]] | None:
    """Fork for a connection; return only in the child what it is to run, and its streams."""
    line, _ = listener.accept()
    try:
        request, streams = read(line)
    except (OSError, ValueError):  # who has asked was interrupted in the middle of it
        line.close()
        return None
    pid = os.fork()
    if pid == 0:
        for process, (_, other) in running.items():
            os.close(process)
            other.close()
        line.close()
        return request, streams
    for stream in streams:
        os.close(stream)
    tell(line, pid)
    running[os.pidfd_open(pid)] = (pid, line)
    return None


def read(line: socket.socket) -> tuple[Request, list[int]]:
    """Return what is to be run, and its streams; ValueError if it does not come whole."""
    size, streams, _, _ = socket.recv_fds(line, 4, 3)
    with line.makefile("rb") as reader:
        return json.loads(reader.read(int.from_bytes(size))), streams


def report(process: int, pid: int, line: socket.socket) -> None:
    """Tell who has asked for a command how it has ended."""
    os.close(process)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    with line:
        tell(line, code)


def tell(line: socket.socket, number: int) -> None:
    with suppress(ConnectionError):  # nobody waits for it any more
        line.sendall(b"%d\n" % number)


def become_command(request: Request, streams: list[int]) -> None:
    """Take over all that a command begins with."""
    words, environment, folder = request
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    tempfile.tempdir = None
    sys.argv[:] = [str(SCRIPT), *words]


def run() -> None:
    """Run the command and end, without taking all modules apart if that is possible.

    That would copy most of the memory that is shared with other commands: it takes longer than most of them. All else
    that a Python does at its end is done.
    """
    try:
        main.main()
    except SystemExit as e:
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        # What cannot be written is an error that Python reports at its own end.
        with suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
            if isinstance(e.code, int):
                os._exit(e.code)
        raise


if __name__ == "__main__":
    # It ends with the tests, whatever a terminal says to all of them.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    preload()
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(ADDRESS))
    listening.listen()
    sys.stdout.write("listening\n")
    sys.stdout.flush()
    serve(listening)
    run()
