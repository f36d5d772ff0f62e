"""What ends a fault, and what does not: its class, its kind, its node, and the rights of the controller."""

import json
import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.fault_classes import shown_at_once
from tests.support.injected import OPEN_FAULTS, create, inject, phase, shows, status
from tests.support.installed import Installed, until

pytestmark = [pytest.mark.components, pytest.mark.e2e]

CLASS = shown_at_once(
    "own", labels={"own": "yes"}, conditions=[{"type": "Own", "reason": "Broken"}]
)


@pytest.fixture(scope="module")
def cluster(with_faults: Installed) -> Installed:
    with_faults.ok("scale", "node", "--replicas", "3", "--wait")
    return with_faults


@pytest.fixture(autouse=True)
def _own_class(cluster: Installed) -> Iterator[None]:
    cluster.apply(CLASS)
    yield
    cluster.delete("faults,faultclasses", "--all")
    until("no node shows a fault", lambda: not any(map(annotated, nodes(cluster))))


def nodes(cluster: Installed) -> list[dict[str, Any]]:
    return cluster.objects("nodes")


def annotated(node: dict[str, Any]) -> bool:
    return OPEN_FAULTS in node["metadata"].get("annotations", {})


def labels(cluster: Installed, node: str) -> dict[str, str]:
    found: dict[str, str] = cluster.found("nodes", node)["metadata"]["labels"]
    return found


def test_a_class_that_is_changed_and_deleted_changes_no_open_fault(cluster: Installed) -> None:
    inject(cluster, "first", "own", target={"nodes": ["node-000000"]})
    other = json.loads(json.dumps(CLASS))
    other["spec"]["signals"]["npd"][0]["labels"] = {"own": "changed"}
    cluster.apply(other)
    inject(cluster, "second", "own", target={"nodes": ["node-000001"]})
    cluster.delete("faultclass", "own")

    # A controller that starts anew knows of the faults what is stored.
    os.kill(cluster.pids()["kwok-controller"], signal.SIGKILL)
    cluster.ok("start", "cluster", "--wait")
    assert labels(cluster, "node-000000")["own"] == "yes"
    assert labels(cluster, "node-000001")["own"] == "changed"
    cluster.delete("fault", "first")
    until("the first is cleared", lambda: "own" not in labels(cluster, "node-000000"))
    assert labels(cluster, "node-000001")["own"] == "changed"


def test_a_node_that_comes_again_under_a_name_has_no_fault(cluster: Installed) -> None:
    inject(cluster, "one", "own", target={"nodes": ["node-000002"]})
    cluster.delete("node", "node-000002")
    cluster.ok("scale", "node", "--replicas", "3", "--wait")

    until("its unit has failed", lambda: status(cluster, "one").get("failed") == 1)
    assert shows(cluster, "node-000002") == set()
    (failed,) = status(cluster, "one")["failedUnits"]
    assert failed == {"node": "node-000002", "reason": "NodeGone"}


@pytest.mark.parametrize(
    ("spec", "reason", "words"),
    [
        ({"class": "owm", "target": {"count": 1}}, "Invalid", "own"),
        ({"class": "own", "target": {"nodes": ["nobody"]}}, "NoMatch", "nobody"),
        ({"class": "own", "target": {"where": "gpus > 0"}}, "NoMatch", "gpus > 0"),
        ({"class": "own", "target": {"where": "gpus >"}}, "Invalid", "where"),
        ({"class": "xid-79", "target": {"count": 1}}, "NoMatch", "GPU"),
    ],
)
def test_a_fault_that_hits_nothing_is_refused_with_the_reason(
    cluster: Installed, spec: dict[str, Any], reason: str, words: str
) -> None:
    create(cluster, "wrong", spec.pop("class"), **spec)
    until("it is refused", lambda: phase(cluster, "wrong") == "Refused")

    found = {each["type"]: each for each in status(cluster, "wrong")["conditions"]}
    assert found["Selected"]["status"] == "False"
    assert found["Selected"]["reason"] == reason
    assert words in found["Selected"]["message"]
    assert not any(map(annotated, nodes(cluster)))


def test_without_their_kind_there_are_no_faults(cluster: Installed) -> None:
    inject(cluster, "all", "own", target={"percent": 100})
    assert all(map(annotated, nodes(cluster)))

    cluster.delete("crd", "faults.kwokctl.dev")

    until("nothing is shown any more", lambda: not any(map(annotated, nodes(cluster))))
    assert all("own" not in each["metadata"]["labels"] for each in nodes(cluster))
    cluster.ok("fault", "inject", "own", "--node", "node-000000", "--id", "again", "--wait")
    assert shows(cluster, "node-000000") == {"again"}
