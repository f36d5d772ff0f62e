from typing import Any

from kwokctl.clusters.scaling.readiness import Verdict
from kwokctl.clusters.scaling.reading import members_of
from kwokctl.clusters.scaling.request import LABEL
from kwokctl.clusters.scaling.stragglers import Stragglers
from tests.support import virtual_time
from tests.support.memory_cluster import MemoryCluster


def pod(cluster: MemoryCluster, name: str, phase: str) -> dict[str, Any]:
    body = cluster.put("Pod", name, namespace="default", labels={LABEL: "pod"})
    body["status"] = {"phase": phase}
    return body


def stragglers_of(cluster: MemoryCluster) -> Stragglers:
    """Wait for the pods that are there now."""

    async def names_like(namespace: str | None, prefix: str) -> list[str]:
        assert namespace == "default"
        return [name for name in cluster.names("Pod") if name.startswith(prefix)]

    return Stragglers(cluster, "default", members_of("pod"), cluster.names("Pod"), names_like)


def test_pods_are_waited_for_until_the_last_one_runs() -> None:
    cluster = MemoryCluster()
    late = [pod(cluster, f"pod-{number}", "Pending") for number in range(3)]
    pod(cluster, "done", "Succeeded")
    told: list[int] = []

    def tell(more: int) -> None:
        told.append(more)
        if late:
            late.pop()["status"]["phase"] = "Running"

    stragglers = stragglers_of(cluster)
    virtual_time.run(stragglers.complete(tell))

    assert told == [1, 1, 1, 1]
    assert stragglers.laggards() == []


def test_those_that_do_not_run_are_named_with_what_they_lack() -> None:
    cluster = MemoryCluster()
    for number in range(12):
        pod(cluster, f"pod-{number:02d}", "Pending")
    stragglers = stragglers_of(cluster)

    def tell(more: int) -> None:
        if more == 0:
            for body in cluster.objects.values():
                body["status"]["phase"] = "Running"

    seen = []

    def look(more: int) -> None:
        seen.append(stragglers.laggards())
        tell(more)

    virtual_time.run(stragglers.complete(look))

    assert [late.name for late in seen[0]] == [f"pod-{number:02d}" for number in range(12)]
    assert {late.lacks for late in seen[0]} == {"is Pending"}


def test_pods_that_have_vanished_are_named_and_waited_for() -> None:
    cluster = MemoryCluster()
    for number in range(3):
        pod(cluster, f"pod-{number}", "Running")
    pod(cluster, "podium", "Running")
    stragglers = stragglers_of(cluster)
    cluster.remove("Pod", "default", "pod-1")
    told, seen = [], []

    def tell(more: int) -> None:
        told.append(more)
        seen.append(stragglers.laggards())
        if len(told) == 2:
            pod(cluster, "pod-1", "Running")

    virtual_time.run(stragglers.complete(tell))

    assert told == [3, 0, 1]
    assert seen[0] == [Verdict("pod-1", "does not exist")]
