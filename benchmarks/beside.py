"""What fleets cost with another kwokctl, beside this one: in turns, in one run.

    python -m benchmarks.beside --other kwokctl-of-go --controller kwok-of-go [--rounds 3] [--nodes 5000] [--pods 10000]

Each round makes a cluster with either, of the same programs of Kubernetes, and does the same works in it. A work takes from the
start of its command until watches of this program have seen its last object; its CPU is that of the command and of all processes
of the cluster, as a control group counts it, for which this needs root. Other work on the machine lengthens the time more than
the CPU. What the rounds took is kept in docs/explanation/comparison.json, of which `make docs` makes the table in the README.
"""

import argparse
import asyncio
import datetime as dt
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from benchmarks.against import programs_of_kubernetes, used
from benchmarks.cluster import FailedError, machine
from benchmarks.comparison import Comparison, Side, Work, write
from benchmarks.deployment import deployment
from benchmarks.observer import Observer, observing
from benchmarks.processes import CONTROLLER, cpu_seconds, programs
from kwokctl import __version__
from kwokctl.artifacts.versions import DEFAULT_KUBE_VERSION
from kwokctl.kube.client import Client
from kwokctl.kube.kubeconfig.access import load_access
from kwokctl.kube.resource import DEPLOYMENTS, LEASES, NODE_LEASES
from kwokctl.kube.transport.pool import Pool
from tests.support.control_groups import Group, group

_NAME = "beside"
_FIRST_NODE = "node-000000"
_PATIENCE = 3600.0
OURS, OTHER = "this kwokctl", "the other"


@dataclass(slots=True)
class Taken:
    """What one work took in one round."""

    value: float
    cpu: float | None = None
    note: str = ""
    load: float = field(default_factory=lambda: os.getloadavg()[0])
    """That of the machine, in the minute before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How much is made, and how long the idle cluster is measured."""

    nodes: int
    pods: int
    deployed: int
    settling: float
    idle: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """A cluster that one of the two has made, in a control group."""

    command: Sequence[str]
    environment: Mapping[str, str]
    counted: Group
    found: dict[tuple[str, str], Taken] = field(default_factory=dict)
    """By name and unit of a row."""

    async def live(self, sizes: Sizes) -> None:
        """Do all works."""
        folder = Path(self.environment["KWOK_WORKDIR"], "clusters", _NAME)
        access = load_access(folder / "kubeconfig.yaml")
        controller = programs(urlsplit(access.server).port or 443)[CONTROLLER]
        async with Pool(access) as pool, observing(pool) as seen:
            await self._nodes(seen, sizes.nodes)
            await self._idle(Client(pool), controller, sizes)
            await self._pods(seen, sizes)
            await self._deployment(seen, Client(pool), controller, sizes)

    async def _nodes(self, seen: Observer, nodes: int) -> None:
        await self._work(
            f"`scale node --replicas {nodes:,}`, to all Ready and free of the not-ready taint",
            seen,
            lambda: self.run("scale", "node", f"--replicas={nodes}"),
            lambda: len(seen.nodes.ready) >= nodes,
        )

    async def _pods(self, seen: Observer, sizes: Sizes) -> None:
        on_a_node = f'.nodeName="{_FIRST_NODE}"'
        await self._work(
            f"`scale pod --replicas {sizes.pods:,}` with a node given, to all Running",
            seen,
            lambda: self.run("scale", "pod", f"--replicas={sizes.pods}", "--param", on_a_node),
            lambda: len(seen.pods.ready) >= sizes.pods,
        )
        await self._work(
            f"`scale pod --replicas 0` from {sizes.pods:,}, to none left",
            seen,
            lambda: self.run("scale", "pod", "--replicas=0"),
            lambda: not seen.pods.existing,
        )

    async def _idle(self, client: Client, controller: int, sizes: Sizes) -> None:
        await asyncio.sleep(sizes.settling)
        of_all, of_it, began = used(self.counted), cpu_seconds(controller), time.perf_counter()
        await asyncio.sleep(sizes.idle)
        took = time.perf_counter() - began
        lease = await client.get(LEASES, NODE_LEASES, _FIRST_NODE)
        note = f"a renewal per {lease['spec']['leaseDurationSeconds'] // 4} s"
        what = f"{sizes.nodes:,} nodes, idle: CPU of"
        own, whole = cpu_seconds(controller) - of_it, used(self.counted) - of_all
        self._note(f"{what} the controller, of one core", "%", Taken(own / took * 100, note=note))
        self._note(
            f"{what} the whole control plane, of one core",
            "%",
            Taken(whole / took * 100, note=note),
        )

    async def _deployment(
        self, seen: Observer, client: Client, controller: int, sizes: Sizes
    ) -> None:
        before = cpu_seconds(controller)
        body = msgspec.json.encode(deployment(sizes.deployed))
        await self._work(
            f"Deployment of {sizes.deployed:,} pods on {sizes.nodes:,} nodes through the scheduler, to all Running",
            seen,
            lambda: client.create(DEPLOYMENTS, "default", body),
            lambda: len(seen.pods.ready) >= sizes.deployed,
        )
        each = (cpu_seconds(controller) - before) / sizes.deployed * 1000
        self._note(
            f"the same: CPU of the controller for each of {sizes.deployed:,} pods",
            "ms",
            Taken(each),
        )

    async def _work(
        self,
        what: str,
        seen: Observer,
        do: Callable[[], Awaitable[object]],
        done: Callable[[], bool],
    ) -> None:
        before, began = used(self.counted), time.perf_counter()
        async with asyncio.timeout(_PATIENCE):
            doing = asyncio.ensure_future(do())
            await seen.until(done)
            took = time.perf_counter() - began
            await doing
        self._note(what, "s", Taken(took, used(self.counted) - before))

    async def run(self, *words: str) -> None:
        """Run a command in the group; raise FailedError if it fails."""
        await asyncio.to_thread(self.run_now, *words)

    def run_now(self, *words: str) -> None:
        """Do the same where no watches must go on meanwhile."""
        done = subprocess.run(
            self.counted.entered(*self.command, f"--name={_NAME}", *words),
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise FailedError(f"{' '.join(words)} exited with {done.returncode}:\n{done.stderr}")

    def _note(self, what: str, unit: str, taken: Taken) -> None:
        self.found[what, unit] = taken
        cpu = "" if taken.cpu is None else f"; CPU {taken.cpu:.3g} s"
        print(f"    {what}: {taken.value:.3g} {unit}{cpu}; load {taken.load:.1f}", flush=True)


def _round(
    command: Sequence[str], environment: Mapping[str, str], sizes: Sizes
) -> Mapping[tuple[str, str], Taken]:
    controller = "cpuacct" if Path("/sys/fs/cgroup/cpuacct").is_dir() else "cpu"
    with group(controller) as counted, tempfile.TemporaryDirectory(prefix="kwokctl-bench-") as work:
        own = {"KWOK_WORKDIR": f"{work}/work", "KUBECONFIG": f"{work}/kubeconfig"}
        environ = {**os.environ, **environment, **own}
        fleet = Fleet(command=command, environment=environ, counted=counted)
        try:
            fleet.run_now("create", "cluster", "--runtime=binary", "--wait=5m")
            asyncio.run(fleet.live(sizes))
        finally:
            fleet.run_now("delete", "cluster")
    return fleet.found


def _side(rounds: Sequence[Taken]) -> Side:
    return Side(
        values=tuple(float(f"{each.value:.3g}") for each in rounds),
        cpu=tuple(float(f"{each.cpu:.3g}") for each in rounds if each.cpu is not None),
        note=rounds[-1].note,
    )


def main() -> None:
    """Measure both in turns, and keep what they took after each round."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--other", required=True, help="the other kwokctl")
    parser.add_argument("--controller", required=True, help="the controller of the other one")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--nodes", type=int, default=5_000)
    parser.add_argument("--pods", type=int, default=10_000)
    parser.add_argument("--deployed", type=int, default=5_000)
    parser.add_argument("--settling", type=float, default=45.0, help="seconds before it is idle")
    parser.add_argument("--idle", type=float, default=60.0, help="seconds that it is measured idle")
    parser.add_argument("--dry", action="store_true", help="keep nothing")
    given = parser.parse_args()
    sizes = Sizes(
        nodes=given.nodes, pods=given.pods, deployed=given.deployed, settling=given.settling, idle=given.idle
    )  # fmt: skip
    same = programs_of_kubernetes()
    commands = {
        OURS: ([sys.executable, "-m", "kwokctl"], same),
        OTHER: ([given.other], {**same, "KWOK_CONTROLLER_BINARY": given.controller}),
    }
    version = subprocess.run([given.other, "--version"], capture_output=True, text=True, check=True)
    rounds: dict[str, list[Mapping[tuple[str, str], Taken]]] = {OURS: [], OTHER: []}
    for number in range(given.rounds):
        # Neither of them is always the first.
        for side in (OURS, OTHER) if number % 2 == 0 else (OTHER, OURS):
            print(f"round {number + 1}, {side}", flush=True)
            rounds[side].append(_round(*commands[side], sizes))
        works = tuple(
            Work(
                what=what,
                unit=unit,
                ours=_side([each[what, unit] for each in rounds[OURS]]),
                other=_side([each[what, unit] for each in rounds[OTHER]]),
            )
            for what, unit in rounds[OURS][0]
        )
        if not given.dry:
            write(
                Comparison(
                    machine=machine(),
                    versions={
                        "kwokctl": __version__,
                        "kwokctl in Go": version.stdout.split()[2].removeprefix("v"),
                        "Kubernetes": DEFAULT_KUBE_VERSION.removeprefix("v"),
                    },
                    date=dt.datetime.now(tz=dt.UTC).date().isoformat(),
                    rounds=number + 1,
                    load=max(
                        each.load for side in rounds.values() for of in side for each in of.values()
                    ),
                    works=works,
                )
            )


if __name__ == "__main__":
    main()
