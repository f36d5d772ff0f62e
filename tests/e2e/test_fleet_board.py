"""The dashboard of a GPU fleet: what each of its queries finds in a real Prometheus."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from kwokctl import assets
from kwokctl.fleet.devices import GPU, device_ids
from tests.support.installed import Installed, until
from tests.support.places import Place
from tests.support.prometheus import NoPrometheusError, PrometheusOf, chosen

pytestmark = [
    pytest.mark.components,
    pytest.mark.e2e,
    pytest.mark.timeout(900, func_only=True),
]

NODES = 5
"""Four in the first rack, and one in the second."""
IN_USE = {"dgx-h100-000000": 2, "dgx-h100-000004": 1}
BOARD = json.loads(assets.text("dashboards/fleet.json"))
QUERIES: list[tuple[str, str]] = [
    (panel["title"], target["expr"])
    for panel in BOARD["panels"]
    for target in panel.get("targets", ())
]


@pytest.fixture(scope="module")
def prometheus(installed: Installed) -> Iterator[PrometheusOf]:
    try:
        words = chosen(Place(name="binary", runtime="binary"))
    except NoPrometheusError as e:
        pytest.skip(f"no Prometheus: {e}")
    installed.ok(
        "create", "cluster", "--wait", "--etcd-fsync", "off", *words, "--prometheus-interval", "2"
    )
    installed.ok("scale", "dgx-h100", "--replicas", str(NODES), "--wait")
    for node, number in IN_USE.items():
        create(installed, f"on-{node}", number, node)
    create(installed, "waits", 1000)
    yield PrometheusOf.running(installed)
    installed.ok("delete", "cluster")


def create(cluster: Installed, name: str, number: int, node: str = "") -> None:
    """Create a pod that wants GPUs, and has the first ones of its node."""
    own = list(device_ids(node, {}, {GPU: 8}, GPU)[:number]) if node else []
    spec = {"containers": [{"name": "x", "image": "x", "resources": {"limits": {GPU: number}}}]}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "annotations": {"kwokctl.dev/devices": json.dumps({"x": {GPU: own}})} if own else {},
        },
        "spec": spec | ({"nodeName": node} if node else {}),
    }
    cluster.create(pod)


def asked(expression: str, rack: str = ".*") -> str:
    """Return a query as Grafana sends it."""
    return expression.replace("$rack", rack).replace("$shape", ".*")


def query_of(title: str) -> str:
    """Return the first query of the first panel with a title."""
    return next(expression for each, expression in QUERIES if each == title)


def number(found: list[dict[str, Any]]) -> float | None:
    """Return the only value of a result."""
    return float(found[0]["value"][1]) if len(found) == 1 else None


def test_every_query_finds_something(prometheus: PrometheusOf) -> None:
    # No GPU has failed: of those the queries are asked for GPUs with an XID of 0, too.
    left = {asked(expression).replace("!= 0", ">= 0") for _, expression in QUERIES}
    assert len(left) > 15

    def all_find() -> bool:
        left.difference_update([query for query in left if prometheus.found(query)])
        return not left

    try:
        until("all of them find something", all_find)
    except AssertionError as e:
        raise AssertionError(f"nothing is found by {left}") from e


def test_the_queries_as_they_are_find_no_fault_in_a_fleet_that_has_none(
    prometheus: PrometheusOf,
) -> None:
    until("there are GPUs", lambda: prometheus.found(asked(query_of("GPUs"))))

    assert number(prometheus.found(asked(query_of("GPUs with an XID")))) == 0
    assert prometheus.found(asked(query_of("XIDs"))) == []
    offered = prometheus.found(asked(query_of("Devices that nodes have and do not offer")))
    assert {each["value"][1] for each in offered} == {"0"}


def test_gpus_are_counted_once_by_what_they_do(prometheus: PrometheusOf) -> None:
    def counted() -> dict[str, float | None]:
        titles = ("GPUs", "GPUs in use", "Idle GPUs")
        return {title: number(prometheus.found(asked(query_of(title)))) for title in titles}

    whole, busy = 8 * NODES, sum(IN_USE.values())
    expected = {"GPUs": whole, "GPUs in use": busy, "Idle GPUs": whole - busy}
    until("all are counted", lambda: counted() == expected)


def test_racks_are_told_apart(prometheus: PrometheusOf) -> None:
    by_rack = [expression for title, expression in QUERIES if title == "GPUs in use"][1]

    def in_use() -> dict[str, str]:
        found = prometheus.found(asked(by_rack))
        return {each["metric"]["rack"]: each["value"][1] for each in found}

    expected = {"dgx-h100-rack-0000": "2", "dgx-h100-rack-0001": "1"}
    until("both racks are there", lambda: in_use() == expected)
    of_one = prometheus.found(asked(query_of("GPUs"), "dgx-h100-rack-0001"))
    assert number(of_one) == 8


def test_a_target_says_where_its_node_is(prometheus: PrometheusOf) -> None:
    def labels() -> dict[str, dict[str, str]]:
        found = prometheus.found('DCGM_FI_DEV_GPU_UTIL{gpu="0"}')
        return {each["metric"]["instance"]: each["metric"] for each in found}

    until("all nodes are there", lambda: len(labels()) == NODES)
    last = labels()["dgx-h100-000004"]
    assert (last["rack"], last["leaf"], last["shape"]) == (
        "dgx-h100-rack-0001",
        "dgx-h100-leaf-0000",
        "dgx-h100",
    )


def test_devices_are_counted_that_nodes_have_and_offer(prometheus: PrometheusOf) -> None:
    def found(state: str) -> float | None:
        query = f'kwok_kubelet_devices{{shape="dgx-h100",resource="{GPU}",state="{state}"}}'
        return number(prometheus.found(query))

    until("they are counted", lambda: found("capacity") == found("allocatable") == 8 * NODES)
