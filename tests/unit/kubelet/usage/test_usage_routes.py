import json

import pytest

from kwokctl.embedded.http.messages import NoAnswerError, RefusedError
from kwokctl.embedded.silence import KUBELET
from tests.support.usage_fleet import START, HandFleet, node, pod, running

CPU = {"kwok.x-k8s.io/usage-cpu": "500m", "kwok.x-k8s.io/usage-memory": "8Mi"}


async def test_a_node_is_named_by_the_path() -> None:
    fleet = HandFleet([pod("web")], [node("a"), node("b")])
    assert any("pod=" in name for name in await fleet.series())
    found = await fleet.series("/metrics/nodes/b/metrics/resource")
    assert not any("pod=" in name for name in found)


@pytest.mark.parametrize(
    "path",
    ["/metrics/nodes/c/metrics/resource", "/metrics/nodes/a/b/metrics/resource", "/metrics/x"],
)
async def test_there_is_nothing_for_a_node_or_a_metric_that_is_not_there(path: str) -> None:
    with pytest.raises(RefusedError, match="there is nothing at") as raised:
        await HandFleet([pod()]).get(path)
    assert raised.value.status == 404


async def test_a_node_is_named_by_an_address_that_it_has_alone() -> None:
    fleet = HandFleet(
        [pod()], [node("a", addresses=("127.0.1.1",)), node("b", addresses=("127.0.1.2",))]
    )
    by_address = await fleet.series("/metrics/resource", local_host="127.0.1.1")
    assert by_address == await fleet.series()


async def test_a_node_answers_at_its_internal_address_with_127_as_first_number() -> None:
    fleet = HandFleet([pod()], [node("a", addresses=("198.18.0.7",)), node("b")])
    by_address = await fleet.series("/metrics/resource", local_host="127.18.0.7")
    assert by_address == await fleet.series()
    assert by_address == await fleet.series("/metrics/resource", local_host="198.18.0.7")


@pytest.mark.parametrize("path", ["/metrics/resource", "/stats/summary"])
@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.9.9", "127.18.0.1"])
async def test_a_shared_or_unknown_address_names_no_node(path: str, address: str) -> None:
    fleet = HandFleet([pod()], [node(name, addresses=("127.0.0.1",)) for name in "ab"])
    with pytest.raises(RefusedError, match="fake nodes have the address") as raised:
        await fleet.get(path, local_host=address)
    assert raised.value.status == 404


async def test_values_are_told_with_their_time() -> None:
    fleet = HandFleet([pod()], age=1.5)
    lines = (await fleet.get("/metrics/nodes/a/metrics/resource")).decode().splitlines()
    [line] = [line for line in lines if line.startswith("node_cpu")]
    assert line.split(" ")[2] == f"{(START + 1.5) * 1000:.0f}"


async def test_the_summary_tells_what_nodes_pods_and_containers_use() -> None:
    fleet = HandFleet([pod("web", running("app"), running("side"), annotations=CPU)], age=10)
    fleet.of_nodes = [node(capacity={"memory": "1Gi"}, addresses=("127.0.1.1",))]
    found = json.loads(await fleet.get("/stats/summary", local_host="127.0.1.1"))
    assert found == json.loads(await fleet.get("/stats/nodes/a/summary"))
    [of_pod] = found["pods"]
    assert of_pod["podRef"] == {"name": "web", "namespace": "default", "uid": "uid-web"}
    assert of_pod["startTime"] == "2027-01-15T08:00:00Z"
    assert of_pod["cpu"]["usageNanoCores"] == 10**9
    assert of_pod["cpu"]["usageCoreNanoSeconds"] == pytest.approx(10**10, rel=1e-3)
    assert of_pod["memory"]["workingSetBytes"] == 16 * 2**20
    assert [each["name"] for each in of_pod["containers"]] == ["app", "side"]
    assert of_pod["containers"][0]["cpu"]["usageNanoCores"] == 5 * 10**8
    assert found["node"]["nodeName"] == "a"
    memory = found["node"]["memory"]
    assert memory["usageBytes"] + memory["availableBytes"] == 2**30


@pytest.mark.parametrize(
    "path", ["/stats/nodes/x/summary", "/stats/nodes/a", "/stats/nodes/a/b/summary"]
)
async def test_there_is_no_summary_of_what_is_not_there(path: str) -> None:
    with pytest.raises(RefusedError) as raised:
        await HandFleet([pod()]).get(path)
    assert raised.value.status == 404


async def test_prometheus_finds_each_node_and_each_metric() -> None:
    text = """
kind: Metric
metadata: {name: mine}
spec: {path: /metrics/mine, metrics: []}
"""
    fleet = HandFleet(of_nodes=[node("a"), node("b")], text=text)
    found = await fleet.get(
        "/discovery/prometheus", headers=(("host", "h:1"),), query=(("scheme", "http"),)
    )
    assert [
        (each["targets"], each["labels"]["__metrics_path__"]) for each in json.loads(found)
    ] == [
        (["h:1"], "/metrics/nodes/a/metrics/resource"),
        (["h:1"], "/metrics/nodes/b/metrics/resource"),
        (["h:1"], "/metrics/mine"),
    ]
    assert json.loads(found)[0]["labels"] == {
        "metrics_name": "metrics-resource",
        "__scheme__": "http",
        "__metrics_path__": "/metrics/nodes/a/metrics/resource",
        "node": "a",
    }


async def test_a_scheme_that_prometheus_does_not_speak_is_refused() -> None:
    with pytest.raises(RefusedError, match="'ftp' is neither of https, http"):
        await HandFleet().get("/discovery/prometheus", query=(("scheme", "ftp"),))


@pytest.mark.parametrize(
    "path",
    [
        "/metrics/resource",
        "/metrics/nodes/a/metrics/resource",
        "/stats/nodes/a/summary",
        "/stats/summary",
    ],
)
async def test_nothing_is_told_of_a_silent_node(path: str) -> None:
    silent = node("a", addresses=("127.0.1.1",), annotations={KUBELET: "silent"})
    fleet = HandFleet([pod("web")], [silent, node("b", addresses=("127.0.1.2",))])
    with pytest.raises(NoAnswerError):
        await fleet.get(path, local_host="127.0.1.1")
    assert await fleet.get(path.replace("nodes/a", "nodes/b"), local_host="127.0.1.2")
