"""Several controllers, each a process of its own, share the nodes of a real API server."""

import asyncio
import re
import signal
import ssl
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from kwokctl.dataplane.leases.decode import StoredLease
from kwokctl.fleet.allocations import allocations_of
from kwokctl.json_value import Json
from kwokctl.kube.client import Client, PatchType
from kwokctl.kube.resource import NODES, PODS
from tests.support.controllers import KWOK, Controllers, shared_node
from tests.support.direct import ask, encoded
from tests.support.installed import Installed, condition
from tests.support.lease_history import LeaseHistory

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.timeout(300, func_only=True),
]

LEASE = 8
COUNT = 12
HALF, THIRD = COUNT // 2, COUNT // 3
COMMON = "10.77.0.0/16"
"""The network of half of the nodes."""


def kubeconfig_of(cluster: Installed) -> Path:
    return cluster.workdir / "clusters" / cluster.name / "kubeconfig.yaml"


@asynccontextmanager
async def objects(client: Client) -> AsyncIterator[list[str]]:
    """Have nodes without a network or with a common one, two pods on each; gives the pods' names."""
    nodes = [shared_node(number) for number in range(COUNT)]
    for node in nodes[::2]:
        node["spec"] = {"podCIDR": COMMON}
    names = [node["metadata"]["name"] for node in nodes]
    pods = {f"{name}-{number}": name for name in names for number in range(2)}
    for node in nodes:
        await client.call("POST", NODES.path(), encoded(node))
    for pod, on in pods.items():
        await client.call("POST", PODS.path("default"), encoded(_pod(pod, on)))
    try:
        yield list(pods)
    finally:
        now = encoded({"gracePeriodSeconds": 0})
        for pod in pods:
            await client.call("DELETE", PODS.path("default", pod), now)
        for name in names:
            await client.call("DELETE", NODES.path(None, name))


def _pod(name: str, on: str) -> Json:
    spec = {"nodeName": on, "containers": [{"name": "c", "image": "i"}]}
    return {"metadata": {"name": name}, "spec": spec}


async def addresses(client: Client, pods: Sequence[str]) -> list[str]:
    """Return the addresses of the pods that run."""
    found = [await client.get(PODS, "default", name) for name in pods]
    return [pod["status"].get("podIP", "") for pod in found]


async def they_join(controllers: Controllers, history: LeaseHistory) -> None:
    await controllers.start(KWOK)
    await history.until(COUNT)
    await controllers.start(KWOK)
    await history.until(HALF, HALF)
    await controllers.start()
    await history.until(THIRD, THIRD, THIRD)

    assert history.moves() == HALF + THIRD
    assert history.transitions() == 0  # they were given, not taken over
    assert history.longest_silence() < LEASE
    logs = [controllers.log(number) for number in range(3)]
    assert sum("is taken: health" in log for log in logs) == 2
    assert sum("playing kinds other than nodes and pods" in log for log in logs) == 1


async def they_go(controllers: Controllers, history: LeaseHistory) -> None:
    controllers.end(0, signal.SIGKILL)
    await history.until(HALF, HALF)
    assert history.moves() == HALF + 2 * THIRD
    assert history.transitions() == THIRD
    assert history.longest_silence() >= LEASE  # no lease is claimed before it has ended

    controllers.end(1, signal.SIGTERM)
    await history.until(COUNT)
    assert history.moves() == 2 * (HALF + THIRD)
    assert history.transitions() == THIRD + HALF
    assert history.held() == {controllers.holder(2): COUNT}


def test_controllers_join_leave_and_are_killed_and_no_lease_ends_that_need_not(
    storage: Installed, tmp_path: Path
) -> None:
    controllers = Controllers(kubeconfig_of(storage), tmp_path, lease_seconds=LEASE)
    history = LeaseHistory("shared-")

    async def story(client: Client) -> None:
        async with objects(client) as pods, asyncio.TaskGroup() as tasks:
            following = tasks.create_task(history.follow(client))
            await they_join(controllers, history)
            await they_go(controllers, history)
            found = await addresses(client, pods)
            assert len(set(found)) == len(found) == 2 * COUNT
            assert "" not in found
            following.cancel()

    try:
        ask(storage, story)
    finally:
        controllers.kill()


GPU = "nvidia.com/gpu"


def gpu_pod(name: str, on: str) -> Json:
    body = _pod(name, on)
    body["metadata"]["annotations"] = {"kwokctl.dev/life": "kubelet"}
    body["spec"]["containers"][0]["resources"] = {"limits": {GPU: "2"}}
    return body


SHAPES = ("p5", "gb200-nvl72")
EACH = 6


def _on_machines(storage: Installed) -> Iterator[str]:
    """Make nodes of two shapes; yield their names."""
    for shape in SHAPES:
        name, replicas = f"machine-{shape}", f"--replicas={EACH}"
        storage.ok("scale", shape, name, replicas, "--param", '.labels.sharing = "yes"')
        yield from (f"{name}-{number:06}" for number in range(EACH))


async def _with_devices(client: Client, names: Sequence[str]) -> None:
    """Put two pods with GPUs on each node."""
    for name in names:
        for number in range(2):
            pod = encoded(gpu_pod(f"{name}-{number}", name))
            await client.call("POST", PODS.path("default"), pod)


async def _machines(client: Client, names: Sequence[str]) -> Json:
    """Return what must stay as it is: what the nodes are and have, and the whole status of their pods."""
    nodes = [await client.get(NODES, None, name) for name in names]
    pods = [await client.get(PODS, "default", f"{name}-{n}") for name in names for n in range(2)]
    return {
        "places": [node["metadata"]["annotations"]["kwokctl.dev/place"] for node in nodes],
        "labels": [node["metadata"]["labels"] for node in nodes],
        "resources": [(n["status"]["capacity"], n["status"]["allocatable"]) for n in nodes],
        "pods": [pod["status"] for pod in pods],
    }


_ENERGY = re.compile(r"^DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION({.*}) (\d+)$", re.MULTILINE)


def _energy(storage: Installed, port: int, names: Sequence[str]) -> dict[str, int]:
    """Return what each GPU has used, by the labels of its series, from the kubelet server at a port."""
    pki = kubeconfig_of(storage).parent / "pki"
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # it has signed its own
    context.load_cert_chain(pki / "admin.crt", pki / "admin.key")
    pages = (f"https://127.0.0.1:{port}/metrics/nodes/{name}/dcgm" for name in names)
    found: dict[str, int] = {}
    for page in pages:
        with urllib.request.urlopen(page, context=context, timeout=60) as answer:
            text = answer.read().decode()
        found |= {labels: int(value) for labels, value in _ENERGY.findall(text)}
    return found


def test_machines_and_their_pods_stay_as_they_are_when_a_controller_is_killed(
    storage: Installed, tmp_path: Path
) -> None:
    controllers = Controllers(kubeconfig_of(storage), tmp_path, lease_seconds=LEASE)
    history = LeaseHistory("machine-")
    names = list(_on_machines(storage))

    async def story(client: Client) -> None:
        async with asyncio.TaskGroup() as tasks:
            following = tasks.create_task(history.follow(client))
            await _with_devices(client, names)
            await controllers.start(KWOK)
            await controllers.start(KWOK)
            await history.until_shared(2 * EACH, among=2)
            for pod in [f"{name}-{number}" for name in names for number in range(2)]:
                await until_it_runs(client, pod)
            before = await _machines(client, names)
            assert len({place.partition(",")[0] for place in before["places"]}) > len(SHAPES)
            used = await asyncio.to_thread(_energy, storage, controllers.port(0), names)
            assert sum('pod="machine-' in labels for labels in used) == 2 * 2 * len(names)

            controllers.end(0, signal.SIGKILL)
            await history.until(2 * EACH)

            assert history.held() == {controllers.holder(1): 2 * EACH}
            assert await _machines(client, names) == before
            later = await asyncio.to_thread(_energy, storage, controllers.port(1), names)
            assert later.keys() == used.keys()
            assert all(later[labels] >= used[labels] for labels in used)
            following.cancel()

    try:
        ask(storage, story)
    finally:
        controllers.kill()
        storage.delete("pods", "--all", "--force", "--grace-period=0")
        for shape in SHAPES:
            storage.ok("scale", shape, f"machine-{shape}", "--replicas=0")


async def silence(client: Client, node: str, word: str | None) -> None:
    patch = encoded({"metadata": {"annotations": {"kwokctl.dev/kubelet": word}}})
    await client.call("PATCH", NODES.path(None, node), patch, content_type=PatchType.MERGE)


def test_no_controller_takes_a_node_whose_kubelet_is_silent_and_one_has_it_afterwards(
    storage: Installed, tmp_path: Path
) -> None:
    controllers = Controllers(kubeconfig_of(storage), tmp_path, lease_seconds=LEASE)
    history = LeaseHistory("shared-")
    silent, other = (shared_node(number)["metadata"]["name"] for number in range(2))

    def latest(node: str) -> StoredLease:
        return history.versions[node][-1]

    async def eventually(holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(90):
            while not holds():
                await asyncio.sleep(0.05)

    async def story(client: Client) -> None:
        async with objects(client), asyncio.TaskGroup() as tasks:
            following = tasks.create_task(history.follow(client))
            await controllers.start(KWOK)
            await controllers.start()
            await history.until_shared(COUNT, among=2)

            await silence(client, silent, "silent")
            late = 2 * LEASE
            await eventually(lambda: latest(other).renewed > latest(silent).renewed + late)

            ended = latest(silent).expires()
            await silence(client, silent, None)
            await eventually(lambda: latest(silent).renewed > ended)
            again = latest(silent).renewed
            await eventually(lambda: latest(silent).renewed > again)
            assert latest(silent).holder in {controllers.holder(number) for number in range(2)}
            following.cancel()

    try:
        ask(storage, story)
    finally:
        controllers.kill()


async def until_it_runs(client: Client, pod: str) -> None:
    async with asyncio.timeout(60):
        while (await client.get(PODS, "default", pod))["status"]["phase"] != "Running":
            await asyncio.sleep(0.05)


def test_in_single_node_mode_other_nodes_and_their_pods_stay_as_they_are(
    storage: Installed, tmp_path: Path
) -> None:
    own, other = (shared_node(number)["metadata"]["name"] for number in range(2))
    selecting = f"--manage-single-node={own}"
    controllers = Controllers(
        kubeconfig_of(storage), tmp_path, lease_seconds=LEASE, selecting=selecting
    )

    async def look(client: Client) -> list[Json]:
        return [
            await client.get(NODES, None, other),
            *[await client.get(PODS, "default", f"{other}-{number}") for number in range(2)],
        ]

    async def story(client: Client) -> None:
        async with objects(client):
            before = await look(client)
            await controllers.start(KWOK)
            for number in range(2):
                await until_it_runs(client, f"{own}-{number}")
            controllers.end(0, signal.SIGTERM)

            assert condition(await client.get(NODES, None, own), "Ready") == "True"
            assert await look(client) == before

    try:
        ask(storage, story)
    finally:
        controllers.kill()


async def devices(client: Client, pods: Sequence[str]) -> dict[str, list[str]]:
    """Wait until pods run; return the devices of each."""
    async with asyncio.timeout(90):
        while True:
            found = {name: await client.get(PODS, "default", name) for name in pods}
            if all(each["status"].get("phase") == "Running" for each in found.values()):
                break
            await asyncio.sleep(0.2)
    return {name: [each.device_id for each in allocations_of(body)] for name, body in found.items()}


def test_devices_stay_when_a_controller_is_killed_and_no_pod_gets_those_of_another(
    storage: Installed, tmp_path: Path
) -> None:
    controllers = Controllers(kubeconfig_of(storage), tmp_path, lease_seconds=LEASE)
    # Leases of nodes of other tests may still be there.
    history = LeaseHistory("with-gpus-")
    nodes = [shared_node(number, "with-gpus") for number in range(4)]
    names = [node["metadata"]["name"] for node in nodes]

    async def run(client: Client, prefix: str) -> dict[str, list[str]]:
        pods = {f"{prefix}-{on}": on for on in names}
        for name, on in pods.items():
            await client.call("POST", PODS.path("default"), encoded(gpu_pod(name, on)))
        return await devices(client, list(pods))

    async def story(client: Client) -> None:
        for node in nodes:
            four = {GPU: "4", "pods": "9", "cpu": "4", "memory": "4Gi"}
            node["status"] = {"capacity": four, "allocatable": four}
            await client.call("POST", NODES.path(), encoded(node))
        async with asyncio.TaskGroup() as tasks:
            following = tasks.create_task(history.follow(client))
            await controllers.start()
            await controllers.start()
            await history.until_shared(len(nodes), among=2)
            before = await run(client, "first")
            controllers.end(0, signal.SIGKILL)
            after = await run(client, "second")

            assert await devices(client, list(before)) == before
            for first, second in zip(before.values(), after.values(), strict=True):
                assert len({*first, *second}) == 4
            following.cancel()
        for name in (*before, *after):
            await client.call(
                "DELETE", PODS.path("default", name), encoded({"gracePeriodSeconds": 0})
            )
        for name in names:
            await client.call("DELETE", NODES.path(None, name))

    try:
        ask(storage, story)
    finally:
        controllers.kill()
