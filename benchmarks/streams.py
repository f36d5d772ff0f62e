"""Many `kubectl logs -f` beside sessions of `kubectl exec`: what they cost the kubelet server, and who suffers.

    python -m benchmarks.streams [--scale 0.1] [--seconds 60] [--into FILE]

Every session sends a line a second to `cat` and reads it back.
"""

import argparse
import asyncio
import tempfile
import time
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from benchmarks.cluster import FailedError, fresh_cluster
from benchmarks.fleet import Sizes, Stage, run_story
from benchmarks.meter import Measured
from benchmarks.processes import KUBELET
from benchmarks.responsiveness import Delays, idle_process, keep_asking, later
from benchmarks.results import FILE
from kwokctl.artifacts.versions import DEFAULT_KUBE_VERSION
from kwokctl.model import KWOK_CONTROLLER
from tests.support import store

_NODES, _FOLLOWERS, _SESSIONS = 100, 200, 50
_RATE = 10
"""Lines a second of each log."""
_PATIENCE = 300.0
_DOCUMENTS = (
    {
        "apiVersion": "kwok.x-k8s.io/v1alpha1",
        "kind": "ClusterLogs",
        "metadata": {"name": "all"},
        "spec": {"logs": [{"generated": {
            "template": "level=info line={{ .line }} pod={{ .pod }} took={{ mod (mul .line 7) 40 }}ms",
            "linesPerSecond": _RATE,
        }}]},
    },
    {
        "apiVersion": "kwok.x-k8s.io/v1alpha1",
        "kind": "ClusterExec",
        "metadata": {"name": "all"},
        "spec": {"execs": [{"local": {}}]},
    },
)  # fmt: skip


@dataclass(slots=True)
class Streams:
    """Logs and sessions of one cluster, and how it goes to them."""

    stage: Stage
    lines: int = 0
    """Of all logs."""
    answers: Delays = field(default_factory=Delays)
    controller: Delays = field(default_factory=Delays)
    idle: Delays = field(default_factory=Delays)
    _silent: set[str] = field(default_factory=set)
    """Those that have not shown anything yet."""
    _all: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when there are none of them."""

    async def run(self, followers: int, sessions: int, seconds: float, idle: int) -> Measured:
        """Open all streams, and measure when each has shown something; an idle process has a port."""
        self._silent = {f"log {number}" for number in range(followers)}
        self._silent |= {f"session {number}" for number in range(sessions)}
        async with asyncio.TaskGroup() as tasks:
            working = [tasks.create_task(self._follow(number)) for number in range(followers)]
            working += [tasks.create_task(self._talk(number)) for number in range(sessions)]
            async with asyncio.timeout(_PATIENCE):
                await self._all.wait()
            own = self.stage.meter.cluster.port(KWOK_CONTROLLER)
            working += [
                tasks.create_task(keep_asking(own, self.controller)),
                tasks.create_task(keep_asking(idle, self.idle)),
            ]
            self.lines = 0
            self.answers.seconds.clear()
            rest = await self.stage.meter.rest(seconds)
            for task in working:
                task.cancel()
        return rest

    def _shown(self, stream: str) -> None:
        self._silent.discard(stream)
        if not self._silent:
            self._all.set()

    async def _follow(self, number: int) -> None:
        """Count the lines of one log."""
        words = ("logs", "--follow", "--tail=1", f"pod-{number:06d}")
        async with _kubectl(self.stage, *words) as (reading, _):
            while await reading.readline():
                self.lines += 1
                self._shown(f"log {number}")
        raise FailedError(f"log {number} ended")

    async def _talk(self, number: int) -> None:
        """Send a line each second, and wait for it to come back."""
        words = ("exec", "--stdin", f"pod-{number:06d}", "--", "cat")
        async with _kubectl(self.stage, *words) as (reading, writing):
            while True:
                began = time.perf_counter()
                writing.write(b"hello from a session\n")
                if not await reading.readline():
                    raise FailedError(f"session {number} ended")
                self.answers.seconds.append(time.perf_counter() - began)
                self._shown(f"session {number}")
                await asyncio.sleep(1.0)


@asynccontextmanager
async def _kubectl(
    stage: Stage, *words: str
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    program = await store.program("kubectl", DEFAULT_KUBE_VERSION)
    config = f"--kubeconfig={stage.meter.cluster.paths.kubeconfig}"
    process = await asyncio.create_subprocess_exec(
        program, config, *words, stdin=PIPE, stdout=PIPE, stderr=DEVNULL
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield process.stdout, process.stdin
    finally:
        with suppress(ProcessLookupError):
            process.terminate()
        await process.wait()


async def _story(stage: Stage, seconds: float) -> None:
    nodes = stage.sizes.scaled(_NODES)
    followers, sessions = stage.sizes.scaled(_FOLLOWERS), stage.sizes.scaled(_SESSIONS)
    await stage.scaled("node", nodes)
    await stage.scaled("pod", followers, "--on-nodes=type=kwok")
    streams = Streams(stage)
    with idle_process() as port:
        rest = await streams.run(followers, sessions, seconds, port)
    shares = {name: spent / rest.seconds * 100 for name, spent in rest.cpu.items()}
    note = (
        f"{streams.lines / rest.seconds:.0f} lines a second; {sessions} sessions had "
        f"{len(streams.answers.seconds)} answers, half of them within "
        f"{streams.answers.at(0.5) * 1e3:.0f} ms"
    )
    stage.ledger.add("streams", followers, shares[KUBELET], nodes=nodes, programs=shares, note=note)
    late, note = later(streams.controller, streams.idle)
    stage.ledger.add("streams-delay", followers, late, nodes=nodes, note=note)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies all counts")
    parser.add_argument("--seconds", type=float, default=60.0, help="that are measured")
    parser.add_argument("--into", type=Path, help="JSON file that figures are added to")
    options = parser.parse_args()
    into = options.into or (FILE if options.scale == 1 else None)
    sizes = Sizes(scale=options.scale, pods_share=1.0, settling=0.0, idle=0.0)
    with tempfile.NamedTemporaryFile("w", prefix="kwokctl-bench-", suffix=".yaml") as file:
        file.write(
            "\n---\n".join(msgspec.json.encode(document).decode() for document in _DOCUMENTS)
        )
        file.flush()
        with fresh_cluster(f"--config={file.name}") as cluster:
            asyncio.run(
                run_story(lambda stage: _story(stage, options.seconds), cluster, sizes, into)
            )


if __name__ == "__main__":
    main()
