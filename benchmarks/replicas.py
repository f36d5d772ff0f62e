"""Replicas of the controller in a real cluster, of which one after the other is taken away.

    python -m benchmarks.replicas [--nodes 3000] [--replicas 5] [--seconds 600] [--image FILE]

On kind, with one real node: fake nodes are divided among the replicas, then among two, and again among all.
Then a replica is taken away every 20 seconds, by forced deletion and by SIGKILL in turns, while pods come
and go. What is counted comes from watches: nodes that were ever NotReady, and pods that were stuck.
"""

import argparse
import asyncio
import itertools
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import msgspec
import pytest
import yaml

from benchmarks.observer import Observer, observing
from benchmarks.straggling import Stragglers
from kwokctl.json_value import Json
from kwokctl.kube.client import Client
from kwokctl.kube.kubeconfig.access import load_access
from kwokctl.kube.resource import NODES, PODS
from kwokctl.kube.transport.pool import Pool
from kwokctl.tasks import beside, for_each
from tests.support import engines
from tests.support.client_writes import delete
from tests.support.direct import encoded
from tests.support.engine_command import EngineCommand
from tests.support.installed import Installed
from tests.support.lease_history import LeaseHistory
from tests.support.node_image import node_image
from tests.support.on_kind import create

_NAMESPACE = "kwok-system"
_DEPLOYMENT = "kwok-controller"
_NAME = "fake-{:05}"
_EVERY = 20.0
"""Seconds between two replicas that are taken away."""
_PATIENCE = 60.0
"""Seconds in which a pod must do what it is to do: a Lease may first have to end."""
_LIMIT = 600.0
_LIFE = 30.0
"""Seconds between the creation and the deletion of a pod."""
_FEW = 2
_docker = EngineCommand("docker")


@dataclass(slots=True)
class Replicas:
    """One run."""

    cluster: Installed
    client: Client
    observer: Observer
    nodes: int
    count: int
    """Of replicas."""
    history: LeaseHistory = field(default_factory=lambda: LeaseHistory("fake-"))
    made: int = 0
    """Pods."""

    async def run(self, seconds: float) -> int:
        """Go through the whole story; return how many nodes were lost and pods stuck."""
        seen = self.observer.nodes
        stragglers = Stragglers(time.monotonic, _PATIENCE)
        async with beside(self.history.follow(self.client)):
            took = await self._until(lambda: self._running() == self.count)
            print(f"{self.count} replicas are ready after {took:.0f} s", flush=True)
            began = time.monotonic()
            await for_each(range(self.nodes), self._make_node, at_once=20)
            await self._until(lambda: len(seen.ready) > self.nodes)
            print(f"{self.nodes} nodes are Ready after {time.monotonic() - began:.0f} s")
            await self._divided("joined", self.count)
            for replicas in (_FEW, self.count):
                await self._scale(replicas)
                await self._divided(f"scaled to {replicas}", replicas)
            self.observer.pods.listener = stragglers.note
            taken = await self._disturbed(seconds)
            await self._divided("left alone", self.count)
        print(f"replicas taken away: {taken}; pods made: {self.made}")
        print(f"moves {self.history.moves()}, leaseTransitions {self.history.transitions()}")
        print(f"longest time between two renewals: {self.history.longest_silence():.1f} s")
        print(f"nodes that were NotReady again: {seen.relapses}")
        print(f"pods that were stuck: {len(stragglers.found())} {sorted(stragglers.found())[:10]}")
        return seen.relapses + len(stragglers.found())

    async def _make_node(self, number: int) -> None:
        await self.client.call("POST", NODES.path(), encoded(_node(number)))

    async def _disturbed(self, seconds: float) -> int:
        """Take replicas away for so long, while pods come and go; return how many were."""
        end = time.monotonic() + seconds
        ways = itertools.cycle((self._delete_one, self._kill_one))
        random, taken = Random(17), 0
        async with asyncio.TaskGroup() as tasks:
            traffic = tasks.create_task(self._traffic(end))
            while time.monotonic() < end:
                await next(ways)(random)
                taken += 1
                await asyncio.sleep(_EVERY)
            await traffic
        await self._until(lambda: not self._fake_pods())
        return taken

    async def _delete_one(self, random: Random) -> None:
        pod = random.choice(await self._pods())
        await self._kubectl("delete", "pod", pod, "--force", "--grace-period=0", "--wait=false")

    async def _kill_one(self, random: Random) -> None:
        """Kill the process of a replica from its node; the kubelet starts it again."""
        listed = await asyncio.to_thread(
            _docker.words, "exec", self._real_node, "pgrep", "-f", "kwokctl[.]kwok"
        )
        await asyncio.to_thread(
            _docker.words, "exec", self._real_node, "kill", "-KILL", random.choice(listed)
        )

    @property
    def _real_node(self) -> str:
        return f"kwok-{self.cluster.name}-control-plane"

    async def _traffic(self, end: float) -> None:
        """Make a pod twice a second, each on another node, and delete those that have lived."""
        living: list[tuple[float, str]] = []
        while (now := time.monotonic()) < end or living:
            if now < end:
                name = f"traffic-{self.made:05}"
                body = msgspec.json.encode(_pod(name, _NAME.format(self.made % self.nodes)))
                await self.client.create(PODS, "default", body)
                self.made += 1
                living.append((now, name))
            while living and (living[0][0] + _LIFE < now or now >= end):
                await delete(self.client, PODS, "default", living.pop(0)[1])
            await asyncio.sleep(0.5)

    async def _scale(self, replicas: int) -> None:
        await self._kubectl("scale", f"deployment/{_DEPLOYMENT}", f"--replicas={replicas}")

    async def _divided(self, what: str, replicas: int) -> None:
        before = self.history.moves()
        took = await self._until(lambda: self._is_even(replicas))
        moved = self.history.moves() - before
        held = sorted(self._held().values())
        print(f"{what}: within 20 % after {took:.0f} s, {moved} moved: {held}", flush=True)

    def _is_even(self, replicas: int) -> bool:
        held, mean = self._held(), self.nodes / replicas
        return len(held) == replicas and all(abs(n - mean) <= 0.2 * mean for n in held.values())

    def _held(self) -> Counter[str]:
        return self.history.held()

    def _running(self) -> int:
        return sum(name.startswith(_DEPLOYMENT) for name in self.observer.pods.ready)

    def _fake_pods(self) -> list[str]:
        return [name for name in self.observer.pods.existing if name.startswith("traffic-")]

    async def _pods(self) -> list[str]:
        return (await self._kubectl("get", "pods", "--output=name", "--no-headers")).split()

    async def _kubectl(self, *words: str) -> str:
        return await asyncio.to_thread(
            self.cluster.kubectl,
            f"--namespace={_NAMESPACE}",
            *(w.removeprefix("pod/") for w in words),
        )

    async def _until(self, holds: Callable[[], bool]) -> float:
        began = time.monotonic()
        async with asyncio.timeout(_LIMIT):
            while True:
                if holds():
                    return time.monotonic() - began
                await asyncio.sleep(0.2)


def _node(number: int) -> Json:
    return {
        "metadata": {
            "name": _NAME.format(number),
            "labels": {"type": "kwok"},
            "annotations": {"kwok.x-k8s.io/node": "fake"},
        }
    }


def _pod(name: str, node: str) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"nodeName": node, "containers": [{"name": "main", "image": "busybox"}]},
    }


def _prepared(cluster: Installed, image: Path, replicas: int) -> None:
    """Make the cluster, and run the replicas in it."""
    create(cluster, "--wait=180s", "--disable=kwok-controller")
    node = f"kwok-{cluster.name}-control-plane"
    with image.open("rb") as archive:
        words = ("exec", "-i", node, "ctr", "--namespace=k8s.io", "images", "import", "-")
        subprocess.run(["docker", *words], stdin=archive, check=True, stdout=subprocess.DEVNULL)
    [address] = _docker.words(
        "inspect", "--format={{range .NetworkSettings.Networks}}{{.IPAddress}} {{end}}", node
    )
    manifest = cluster.ok(
        "controller", "manifest", f"--replicas={replicas}", f"--api-server={address}:6443"
    )
    cluster.kubectl("apply", "--filename=-", stdin=_modest(manifest))


def _modest(manifest: str) -> str:
    """Let any number of replicas fit on a small machine."""
    objects = list(yaml.safe_load_all(manifest))
    for each in objects:
        if each["kind"] == "Deployment":
            spec = each["spec"]["template"]["spec"]
            spec["containers"][0]["resources"]["requests"] = {"cpu": "10m", "memory": "64Mi"}
            spec["tolerations"] = [{"operator": "Exists"}]
    return yaml.safe_dump_all(objects)


def _made_image(folder: Path) -> Path:
    words = [sys.executable, "image/make_image.py", "--no-load", "--to", str(folder)]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    return next(folder.glob("kwok-*.tar"))


async def _story(cluster: Installed, given: argparse.Namespace) -> int:
    access = load_access(cluster.workdir / "clusters" / cluster.name / "kubeconfig.yaml")
    async with Pool(access) as pool, observing(pool) as observer:
        replicas = Replicas(cluster, Client(pool), observer, given.nodes, given.replicas)
        return await replicas.run(given.seconds)


def main() -> int:
    """Run the story; 1 if a node was lost or a pod stuck."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--nodes", type=int, default=3_000)
    parser.add_argument("--replicas", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=600.0, help="of taking replicas away")
    parser.add_argument("--image", type=Path, help="archive of 'make image' [default: made again]")
    given = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="kwokctl-bench-") as folder,
        engines.engine() as url,
        pytest.MonkeyPatch.context() as environment,
    ):
        environment.setenv("DOCKER_HOST", url)
        image = given.image or _made_image(Path(folder))
        _docker.words("load", "--input", str(asyncio.run(node_image(engines.engine()))))
        cluster = Installed.within(Path(folder)).called("replicas")
        try:
            _prepared(cluster, image, given.replicas)
            return asyncio.run(_story(cluster, given))
        finally:
            cluster.run("delete", "cluster")


if __name__ == "__main__":
    sys.exit(main())
