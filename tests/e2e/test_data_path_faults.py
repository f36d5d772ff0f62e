"""Components that die, commands that are ended, and users who are everywhere, while fleets are written."""

import asyncio
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from os import kill
from random import Random
from signal import SIGINT, SIGKILL, Signals

import pytest

from kwokctl.json_value import Json
from kwokctl.kube.resource import LEASES, NODE_LEASES, NODES, PODS, Resource
from tests.support.installed import PATIENCE, Installed, condition, until
from tests.support.planes import connected, objects, stored, until_stored
from tests.support.storm import Storm

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.timeout(600, func_only=True),
]


NODE_NUMBER, POD_NUMBER = 60, 600
ENDED = {"pod": 3000, "node": 1500}
"""How many a command that is ended would have made: enough to be met in the middle of it on any machine."""
MORE = 100
"""How many the next command makes beside those that are there."""
KINDS: Mapping[str, tuple[Resource, str | None]] = {"pod": (PODS, "default"), "node": (NODES, None)}


@pytest.fixture(scope="module")
def cluster(installed: Installed) -> Iterator[Installed]:
    """A cluster whose components are launched again when they die."""
    words = ("--restart", "on-failure", "--etcd-fsync", "off", "--node-heartbeat", "real")
    installed.ok("create", "cluster", "--wait", *words)
    installed.ok("scale", "node", "--replicas", str(NODE_NUMBER), "--wait")
    yield installed
    installed.ok("delete", "cluster")


def scaling(kind: str, name: str, number: int) -> Sequence[str]:
    words = ("--on-nodes", "type=kwok") if kind == "pod" else ()
    return ("scale", kind, name, "--replicas", str(number), *words)


def growing(cluster: Installed, kind: str, name: str, number: int) -> subprocess.Popen[str]:
    return cluster.start(*scaling(kind, name, number))


def whole(cluster: Installed, set_name: str) -> int:
    """Wait until every object of a set is as it should be; return how many there are."""
    found: list[Json] = []

    def are_whole() -> bool:
        found[:] = members(cluster, set_name)
        return are_ready(found)

    until("all are whole", are_whole)
    assert len({each["metadata"]["uid"] for each in found}) == len(found)
    return len(found)


def members(cluster: Installed, set_name: str) -> list[Json]:
    selector = f"kwok.x-k8s.io/kwokctl-scale={set_name}"
    return [*objects(cluster, PODS, selector), *objects(cluster, NODES, selector)]


def are_ready(objects: list[Json]) -> bool:
    return all(condition(each, "Ready") == "True" for each in objects)


def completed(cluster: Installed, kind: str, name: str, number: int) -> None:
    """Ask for the same once more, and see that it is done."""
    cluster.ok(*scaling(kind, name, number))
    assert whole(cluster, name) == number


@pytest.mark.parametrize("component", ["etcd", "kube-apiserver"])
def test_a_component_that_dies_costs_a_repetition_at_most(
    cluster: Installed, component: str
) -> None:
    name = f"without-{component}"
    for number in (POD_NUMBER, 0):
        process = growing(cluster, "pod", name, number)
        until_stored(cluster, *KINDS["pod"], POD_NUMBER // 5)

        kill(cluster.pids()[component], SIGKILL)

        _, said = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0 or (process.returncode == 1 and "error: " in said), said
        assert "Traceback" not in said
        until("all components are ready", lambda: cluster.statuses() == {"Ready"})
        completed(cluster, "pod", name, number)
        pods = members(cluster, name)
        assert len({pod["status"]["podIP"] for pod in pods}) == number


def test_nodes_go_on_showing_that_they_live(cluster: Installed) -> None:
    before = renewals(cluster)

    def are_renewed() -> bool:
        now = renewals(cluster)
        return all(now[name] > before[name] for name in before)

    until("leases are renewed", are_renewed)
    until("nodes are Ready", lambda: are_ready(objects(cluster, NODES)))


def renewals(cluster: Installed) -> dict[str, str]:
    leases = cluster.objects("leases", "-n", NODE_LEASES)
    return {each["metadata"]["name"]: each["spec"]["renewTime"] for each in leases}


def all_beat(cluster: Installed) -> bool:
    """Return whether there is a lease for every node, and none else."""
    return {*stored(cluster, LEASES, NODE_LEASES)} == {*stored(cluster, NODES, None)}


@pytest.mark.parametrize("signal", [SIGINT, SIGKILL])
@pytest.mark.parametrize("kind", ["pod", "node"])
def test_an_interrupted_scale_leaves_whole_objects_and_can_be_repeated(
    cluster: Installed, kind: str, signal: Signals
) -> None:
    random, name = Random(kind + signal.name), f"{kind}-{signal.name.lower()}"
    number = ENDED[kind]
    process = growing(cluster, kind, name, number)
    until_stored(cluster, *KINDS[kind], random.randint(1, number // 10), by=process)
    process.send_signal(signal)
    process.communicate(timeout=PATIENCE)
    assert process.returncode in {130, -SIGKILL}
    found = whole(cluster, name)
    assert found < number
    number = found + MORE
    completed(cluster, kind, name, number)
    if kind == "node":
        until("all have leases", lambda: all_beat(cluster))

    process = growing(cluster, kind, name, 0)
    until_stored(cluster, *KINDS[kind], random.randint(1, number // 10), by=process)
    process.send_signal(signal)
    process.communicate(timeout=PATIENCE)
    whole(cluster, name)
    completed(cluster, kind, name, 0)
    if kind == "node":
        until("their leases are gone", lambda: all_beat(cluster))


def test_pods_run_in_a_storm_of_labels_and_keep_them_all(cluster: Installed) -> None:
    number = 150

    async def race() -> list[str]:
        async with connected(cluster) as client:
            storm = Storm(client, "kwok.x-k8s.io/kwokctl-scale=stormy")
            words = ("scale", "pod", "stormy", "--replicas", str(number), "--wait", "180s")
            return await storm.during(asyncio.to_thread(cluster.ok, *words), number)

    assert asyncio.run(race()) == []
    assert whole(cluster, "stormy") == number
