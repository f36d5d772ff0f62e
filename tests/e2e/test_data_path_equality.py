"""Objects that were stamped into etcd are, field by field, what the API makes of the same request."""

import json
import re
from collections.abc import Mapping, Sequence

import pytest

from kwokctl.dataplane.copies.first_difference import difference, spelled, value_at
from kwokctl.dataplane.copies.variable_fields import Path
from kwokctl.json_value import Json
from tests.support.data_paths import data_paths
from tests.support.installed import TELLING, Installed, until

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.timeout(600, func_only=True),
]

Objects = Mapping[str, Json]

DIFFERENT = re.compile(
    r"(?P<uid>[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})"
    r"|(?P<time>[0-9]{4}(-[0-9]{2}){2}T[0-9:]{8}(\.[0-9]+)?Z)"
    r"|(?P<container>(?<=kwok://)[0-9a-f]{32})"
    r"|(?P<generated>(?<=kube-api-access-)[a-z0-9]{5})"
)
"""What cannot be the same twice."""

RICH = (
    '.containers = [{name: "a", image: "i", resources: {requests: {cpu: "100m", memory: "1Gi"}}},'
    '{name: "b", image: "j"}] | .initContainers = [{name: "c", image: "k"}]'
)
SETS: Mapping[str, Sequence[str]] = {
    "plain": ("--on-nodes", "type=kwok"),
    "rich": ("--on-nodes", "type=kwok", "--param", RICH),
    "host": ("--on-nodes", "type=kwok", "--param", ".hostNetwork = true"),
    "unplaced": (),
}
LEASES = ("leases", "-n", "kube-node-lease")
NUMBER = 30
PATHS = ("api", "etcd")


@pytest.fixture(scope="module")
def clusters(by_path: Mapping[str, Installed]) -> Mapping[str, Installed]:
    """Two clusters by their data path, in which the same was requested."""
    for cluster in by_path.values():
        fill(cluster, "node", "node")
        for name, extra in SETS.items():
            fill(cluster, "pod", name, *extra)
    return by_path


def fill(cluster: Installed, kind: str, name: str, *words: str) -> None:
    all_words = (*TELLING, "scale", kind, name, "--replicas", str(NUMBER), "--wait", "180s", *words)
    done = cluster.run(*all_words)
    assert done.code == 0, done.err
    assert data_paths(done.err) == [cluster.name.removeprefix("by-")]


def objects(cluster: Installed, *words: str) -> Objects:
    """Return objects by name, with names for what cannot be the same twice."""
    found = {
        each["metadata"]["name"]: each for each in cluster.objects(*words, "--show-managed-fields")
    }
    for each in found.values():
        del each["metadata"]["resourceVersion"]
        if each["kind"] == "Node":
            # Each cluster's controller has a port of its own.
            del each["status"]["daemonEndpoints"]
        if each["kind"] == "Lease":
            # What is written every ten seconds is as short as can be.
            each["metadata"].pop("managedFields", None)
    text = DIFFERENT.sub(_name, json.dumps(found))
    same: Objects = json.loads(text)
    return same


def _name(match: re.Match[str]) -> str:
    """Return what something is, and of a time as what it is written."""
    return re.sub("[0-9]", "0", match[0]) if match["time"] else str(match.lastgroup)


def without_place(pods: Objects) -> Objects:
    """Leave out where pods lie, and what follows from it: that was the scheduler's choice."""
    for pod in pods.values():
        del pod["spec"]["nodeName"]
        for field in ("hostIP", "hostIPs", "podIP", "podIPs"):
            del pod["status"][field]
        for entry in pod["metadata"]["managedFields"]:
            entry["fieldsV1"].get("f:status", {}).pop("f:podIPs", None)
    return pods


def unlike(by_api: Objects, by_etcd: Objects) -> str | None:
    """Return where objects differ, and how; None if they do not."""
    assert len(by_api) >= NUMBER
    path = difference(by_api, by_etcd, lambda *_: False)
    return (
        None if path is None else f"{spelled(path)}: {shown(by_api, path)} {shown(by_etcd, path)}"
    )


def shown(found: Objects, path: Path) -> str:
    try:
        return json.dumps(value_at(found, path))
    except KeyError:
        return "nothing"


@pytest.mark.parametrize("words", [("nodes",), LEASES])
def test_nodes_and_their_leases_are_the_same(
    clusters: Mapping[str, Installed], words: Sequence[str]
) -> None:
    def leases() -> set[int]:
        return {len(cluster.objects(*LEASES)) for cluster in clusters.values()}

    until("all nodes have leases", lambda: leases() == {NUMBER})

    assert unlike(*(objects(clusters[path], *words) for path in PATHS)) is None


@pytest.mark.parametrize("name", SETS)
def test_pods_are_the_same(clusters: Mapping[str, Installed], name: str) -> None:
    words = ("pods", "-l", f"kwok.x-k8s.io/kwokctl-scale={name}")
    by_api, by_etcd = (objects(clusters[path], *words) for path in PATHS)
    if name == "unplaced":
        by_api, by_etcd = without_place(by_api), without_place(by_etcd)

    assert unlike(by_api, by_etcd) is None
