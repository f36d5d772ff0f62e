"""The first process of the all-in-one image: makes a cluster, starts again what dies, and stops it at the end.

Its arguments are those of `kwokctl create cluster`. It is copied into the image, so it imports no module of this project.
"""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

KWOKCTL = (sys.executable, "-P", "-m", "kwokctl")
CREATE = ("create", "cluster", "--runtime=binary", "--artifact-source=offline", "--kubeconfig=")
_EVERY = 10.0
"""Seconds between two looks at the components."""
_BEAT = 0.2
_PATIENCE = 8.0
"""Seconds for a command to end when the container stops; engines kill it after ten."""


class Keeper:
    """Runs kwokctl's commands until a signal says that the container stops."""

    def __init__(self) -> None:
        """Listen to the signals of an engine and of a terminal."""
        self._stopped = threading.Event()
        for each in (signal.SIGTERM, signal.SIGINT):
            signal.signal(each, self._stop)

    def run(self, words: Sequence[str]) -> int:
        """Make the cluster, and keep it running until the signal; return the exit code."""
        code = self._kwokctl(*CREATE, *words)
        if code and not self._stopped.is_set():
            return code
        while not self._stopped.wait(_EVERY):
            reap()
            self._kwokctl("--v=WARN", "start", "cluster")
        return subprocess.run([*KWOKCTL, "stop", "cluster"], check=False).returncode

    def _kwokctl(self, *words: str) -> int:
        """Run a command; interrupt it, which is safe, when the container stops."""
        running = subprocess.Popen([*KWOKCTL, *words])
        while running.poll() is None:
            if self._stopped.wait(_BEAT):
                running.terminate()
                return running.wait(_PATIENCE)
        return running.returncode

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        self._stopped.set()


def reap() -> None:
    """Collect processes that ended after their parents, as the first process of a container must."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def main() -> int:
    """Run until the container stops."""
    Path.home().mkdir(parents=True, exist_ok=True)
    return Keeper().run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
