"""Controllers that share the nodes of a real API server, each a process of its own.

They are forked from a Python that has loaded them, as those of a cluster are: that saves 0.3 s of processor time for each.
"""

import atexit
import os
import re
import select
import signal
import sys
from contextlib import ExitStack, suppress
from functools import cache
from pathlib import Path

from kwokctl.host.processes.forks import Forks, preloaded
from kwokctl.host.processes.supervise import read_pid_file
from kwokctl.json_value import Json
from tests.support.ports import free_port

CONTROLLER, KWOK = "kwokctl.controller", "kwokctl.kwok"
"""The controller alone, and with the server of kubelets as `kwok` has it."""

LABELS = {"sharing": "yes"}
"""Of the nodes that they select."""


def shared_node(number: int, prefix: str = "shared") -> Json:
    """Return a node without a network of its own; the names have the same length."""
    return {"metadata": {"name": f"{prefix}-{number:05}", "labels": LABELS}}


class Controllers:
    """The processes of one machine: all are given the same port."""

    def __init__(
        self,
        kubeconfig: Path,
        folder: Path,
        *,
        lease_seconds: int,
        selecting: str = "--manage-nodes-with-label-selector=sharing=yes",
    ) -> None:
        self.folder = folder
        stages = folder / "stages.yaml"
        templates = [
            Path(f"templates/stages/{name}.yaml") for name in ("node-initialize", "pod-ready")
        ]
        stages.write_text("\n---\n".join(each.read_text("utf-8") for each in templates))
        self._port = free_port()
        self.words = (
            f"--kubeconfig={kubeconfig}",
            f"--config={stages}",
            selecting,
            f"--node-lease-duration-seconds={lease_seconds}",
            f"--server-address=127.0.0.1:{self._port}",
        )
        self._processes: list[int] = []
        """A descriptor of each."""

    async def start(self, module: str = CONTROLLER) -> None:
        """Start one more, and return when it runs."""
        number = len(self._processes)
        pid_file = self.folder / f"pid-{number}"
        lock = os.open(self.folder, os.O_RDONLY)
        try:
            is_launched = await _programs().launch(
                _command(module, *self.words),
                pid_file=pid_file,
                log=self.folder / f"log-{number}",
                folder=Path.cwd(),
                env={},
                lock=lock,
            )
        finally:
            os.close(lock)
        process = read_pid_file(pid_file)
        assert is_launched
        assert process
        self._processes.append(os.pidfd_open(process.pid))

    def log(self, number: int) -> str:
        return (self.folder / f"log-{number}").read_text()

    def holder(self, number: int) -> str:
        """Return the name under which a controller holds leases, from its log."""
        return self.log(number).partition(" stages as ")[2].partition("\n")[0]

    def port(self, number: int) -> int:
        """Return the port of one whose server listens: its own where another has the given one."""
        own = re.search(r"is taken: .* are at port (\d+)", self.log(number))
        return int(own[1]) if own else self._port

    def tell(self, number: int, what: signal.Signals) -> None:
        signal.pidfd_send_signal(self._processes[number], what)

    def end(self, number: int, how: signal.Signals) -> None:
        self.tell(number, how)
        self._wait(self._processes[number])

    def running(self) -> int:
        """Return how many run."""
        ended, _, _ = select.select(self._processes, [], [], 0)
        return len(self._processes) - len(ended)

    def kill(self) -> None:
        """Kill those that run."""
        while self._processes:
            process = self._processes.pop()
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(process, signal.SIGKILL)
            self._wait(process)
            os.close(process)

    @staticmethod
    def _wait(process: int) -> None:
        ended, _, _ = select.select([process], [], [], 30)
        assert ended


def _command(module: str, *words: str) -> list[str]:
    return [sys.executable, "-P", "-m", module, *words]


@cache
def _programs() -> Forks:
    """Return what forks both programs; it ends with this process."""
    until_the_end = ExitStack()
    atexit.register(until_the_end.close)
    return until_the_end.enter_context(preloaded([_command(CONTROLLER), _command(KWOK)]))
