"""Runs the command without loading its modules anew, which takes three quarters of the time of most commands.

It is forked from a Python that has loaded them (`programs/preloaded.py`), and is a process of its own with its
own words, environment, folder and streams.
"""

import atexit
import io
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import BinaryIO

_SERVER = Path(__file__).parent / "programs" / "preloaded.py"
_PATIENCE = 60.0
_READ_AT_START = ("PYTHON", "LANG", "LC_", "TZ")
"""How the variables begin that a Python reads before it runs anything."""


def serves(environment: Mapping[str, str]) -> bool:
    """Return whether a Python that starts with this environment would be as one that starts with ours."""
    return read_at_start(environment) == _ours()


def run(
    words: Sequence[str],
    *,
    environment: Mapping[str, str],
    stdin: str,
    timeout: float,
    folder: Path | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run the command with captured output, as subprocess.run does; in our folder if none is given.

    What is forked is started once for what a Python reads of an environment.
    """
    deadline = time.monotonic() + timeout
    out, err = _Captured(), _Captured()
    with socket.socket(socket.AF_UNIX) as line, line.makefile("rb") as answers:
        line.connect(server(frozenset(read_at_start(environment).items())))
        feed = _send(line, (words, dict(environment), str(folder or Path.cwd())), out, err)
        threading.Thread(target=_feed, args=(feed, stdin), daemon=True).start()
        pid = int(answers.readline())
        try:
            with _ending(pid, line, answers):
                line.settimeout(timeout)
                code = int(answers.readline())
                for captured in (out, err):
                    captured.wait(deadline)
        except TimeoutError:
            raise subprocess.TimeoutExpired(words, timeout, out.content, err.content) from None
    return subprocess.CompletedProcess(words, code, out.text, err.text)


def _send(line: socket.socket, request: object, out: "_Captured", err: "_Captured") -> int:
    """Ask for a command that writes there; return the pipe from which it will read."""
    given, feed = os.pipe()
    body = json.dumps(request).encode()
    streams = [given, out.end, err.end]
    socket.send_fds(line, [len(body).to_bytes(4, "big")], streams)
    line.sendall(body)
    for stream in streams:
        os.close(stream)
    return feed


@contextmanager
def _ending(pid: int, line: socket.socket, answers: BinaryIO) -> Iterator[None]:
    """Kill a command that is not waited for any more; an interrupted one takes away what it has made."""
    try:
        yield
    except BaseException as e:
        if not (isinstance(e, KeyboardInterrupt) and _ends(line, answers)):
            os.kill(pid, signal.SIGKILL)
        raise


def _ends(line: socket.socket, answers: BinaryIO) -> bool:
    line.settimeout(_PATIENCE)
    try:
        return bool(answers.readline())
    except OSError:
        return False


class _Captured:
    """What is written to a pipe, until nobody can write to it any more."""

    def __init__(self) -> None:
        self.content = b""
        self._reading, self.end = os.pipe()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def wait(self, deadline: float) -> None:
        """Wait until all has been read; raise TimeoutError at the deadline."""
        self._reader.join(max(0.0, deadline - time.monotonic()))
        if self._reader.is_alive():
            raise TimeoutError

    @property
    def text(self) -> str:
        return io.TextIOWrapper(io.BytesIO(self.content)).read()

    def _read(self) -> None:
        with open(self._reading, "rb", buffering=0) as pipe:  # noqa: PTH123 - it has no path
            while piece := pipe.read(1 << 16):
                self.content += piece


def _feed(pipe: int, text: str) -> None:
    try:
        with open(pipe, "w") as writer:
            writer.write(text)
    except BrokenPipeError:
        return


@cache
def _ours() -> Mapping[str, str]:
    return read_at_start(os.environ)


@cache
def server(settings: Collection[tuple[str, str]]) -> str:
    """Start the Python that is forked with these variables, and return its address.

    It ends with this process, whose end of its standard input is closed then.
    """
    address = str(Path(tempfile.mkdtemp(prefix="kwokctl-command-"), "socket"))
    script = Path(sys.executable).with_name("kwokctl")
    others = {
        name: value for name, value in os.environ.items() if not name.startswith(_READ_AT_START)
    }
    process = subprocess.Popen(
        [sys.executable, str(_SERVER), address, str(script)],
        env=others | dict(settings),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stdout.readline() == b"listening\n"
    process.stdout.close()
    atexit.register(_end, process)
    return address


def _end(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None
    process.stdin.close()
    process.wait(_PATIENCE)


def read_at_start(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that a Python reads before it runs anything."""
    return {name: environment[name] for name in environment if name.startswith(_READ_AT_START)}
