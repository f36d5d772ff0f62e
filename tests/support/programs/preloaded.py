"""The command with its modules loaded: forks it for each connection to a socket, until standard input ends.

    preloaded.py ADDRESS SCRIPT

A client sends the words, the environment and the folder to work in, with the three streams; it gets the pid, and
then the exit code. The command is a process of its own, as if its script had been started.
"""

import gc
import json
import os
import select
import signal
import socket
import sys
import tempfile
from contextlib import suppress
from importlib import import_module
from pathlib import Path

ADDRESS, SCRIPT = map(Path, sys.argv[1:])
sys.path[0] = str(SCRIPT.parent)

from kwokctl.cli import app, main  # noqa: E402

VERBS = (
    "clusters.create", "clusters.delete", "clusters.scaling.set_size", "clusters.start", "clusters.status",
    "clusters.snapshot", "clusters.time_travel.rewind",
)  # fmt: skip
"""What the commands load that tests run most, once they know what they have to do."""


def preload() -> None:
    """Load what commands would load, none of which looks at the environment or starts a thread."""
    for module in (*(f"cli.verbs.{module}" for module in app.MODULES), *VERBS):
        import_module(f"kwokctl.{module}")
    import_module("runtimes.binary.binary_runtime")
    gc.collect()
    gc.freeze()


def serve(listener: socket.socket) -> None:
    """Return in a child that is to become the command, and when standard input has ended."""
    while listener in select.select([listener, sys.stdin], [], [])[0]:
        line, _ = listener.accept()
        with line:
            if os.fork() == 0:
                listener.close()
                become_command(line)
                return
    ADDRESS.unlink()
    ADDRESS.parent.rmdir()
    sys.exit()


def become_command(line: socket.socket) -> None:
    """Fork once more, and wait there; return in the child, which has all that a command begins with."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    size, streams, _, _ = socket.recv_fds(line, 4, 3)
    with line.makefile("rb") as reader:
        words, environment, folder = json.loads(reader.read(int.from_bytes(size)))
    if pid := os.fork():
        line.sendall(b"%d\n" % pid)
        for stream in (*streams, 0):
            os.close(stream)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        with suppress(BrokenPipeError):  # nobody waits for it any more
            line.sendall(b"%d\n" % code)
        os._exit(0)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    tempfile.tempdir = None
    sys.argv[:] = [str(SCRIPT), *words]


if __name__ == "__main__":
    # It ends with the tests, whatever a terminal says to all of them.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    preload()
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(ADDRESS))
    listening.listen()
    sys.stdout.write("listening\n")
    sys.stdout.flush()
    serve(listening)
    main.main()
