"""Controllers that share the nodes of a real API server, each a process of its own."""

import re
import signal
import subprocess
import sys
from pathlib import Path

from kwokctl.json_value import Json
from tests.support.ports import free_port

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
        self.processes: list[subprocess.Popen[bytes]] = []

    def start(self, module: str = "kwokctl.controller") -> None:
        """Start one more: the controller alone, or with the server of kubelets as `kwok` has it."""
        log = (self.folder / f"log-{len(self.processes)}").open("w")
        with log:
            words = [sys.executable, "-m", module, *self.words]
            self.processes.append(subprocess.Popen(words, stdout=log, stderr=log))

    def log(self, number: int) -> str:
        return (self.folder / f"log-{number}").read_text()

    def holder(self, number: int) -> str:
        """Return the name under which a controller holds leases, from its log."""
        return self.log(number).partition(" stages as ")[2].partition("\n")[0]

    def port(self, number: int) -> int:
        """Return the port of one whose server listens: its own where another has the given one."""
        own = re.search(r"is taken: .* are at port (\d+)", self.log(number))
        return int(own[1]) if own else self._port

    def end(self, number: int, how: signal.Signals) -> None:
        self.processes[number].send_signal(how)
        self.processes[number].wait(30)

    def kill(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()
