import json

import pytest

from kwokctl.embedded.http.messages import NoAnswerError, RefusedError
from kwokctl.embedded.silence import KUBELET
from tests.support.gpu_nodes import gpu_node, gpu_pod
from tests.support.usage_fleet import HandFleet, node

PAGE = "/metrics/nodes/a/dcgm"


@pytest.mark.parametrize("path", [PAGE, "/metrics/nodes/b/dcgm", "/metrics/nodes/a/x/dcgm"])
async def test_there_is_no_page_for_a_node_without_gpus(path: str) -> None:
    with pytest.raises(RefusedError, match="there is nothing at") as raised:
        await HandFleet([], [node()]).get(path)
    assert raised.value.status == 404


async def test_a_node_that_is_gone_has_no_page_any_more() -> None:
    fleet = HandFleet([], [gpu_node()])
    await fleet.get(PAGE)
    fleet.of_nodes = []
    fleet.changed()
    with pytest.raises(RefusedError, match="there is nothing at"):
        await fleet.get(PAGE)


@pytest.mark.parametrize("name", ["counters", "names"])
async def test_a_parameter_that_is_not_known_is_refused(name: str) -> None:
    with pytest.raises(RefusedError, match="'some' is none of") as raised:
        await HandFleet([], [gpu_node()]).get(PAGE, query=((name, "some"),))
    assert raised.value.status == 400


async def test_a_silent_kubelet_has_no_exporter_that_answers() -> None:
    fleet = HandFleet([], [gpu_node(annotations={KUBELET: "silent"})])
    with pytest.raises(NoAnswerError):
        await fleet.get(PAGE)


async def test_a_metric_with_this_path_takes_its_place() -> None:
    text = """
kind: Metric
metadata: {name: own}
spec:
  path: /metrics/nodes/{nodeName}/dcgm
  metrics: [{name: mine, kind: gauge, value: "1"}]
"""
    assert await HandFleet([], [gpu_node()], text=text).series(PAGE) == {"mine": 1}


async def test_prometheus_finds_a_target_for_each_node_with_gpus() -> None:
    fleet = HandFleet([], [gpu_node("a"), node("b"), gpu_node("c")])
    found = json.loads(await fleet.get("/discovery/prometheus", headers=(("host", "h:1"),)))
    labels = [each["labels"] for each in found if each["labels"]["metrics_name"] == "dcgm"]
    assert [each["__metrics_path__"] for each in labels] == [
        f"/metrics/nodes/{name}/dcgm" for name in "ac"
    ]
    assert {each["job"] for each in labels} == {"nvidia-dcgm-exporter"}
    assert [each["node"] for each in labels] == ["a", "c"]


async def test_the_summary_agrees_with_the_page() -> None:
    fleet = HandFleet([gpu_pod("train", 0, 5), gpu_pod("other")], [gpu_node()], age=10)
    pods = json.loads(await fleet.get("/stats/nodes/a/summary"))["pods"]
    by_name = {each["podRef"]["name"]: each["containers"][0] for each in pods}
    assert "accelerators" not in by_name["other"]
    readings = fleet.gpus.readings("a")
    for found, index in zip(by_name["train"]["accelerators"], (0, 5), strict=True):
        reading = readings[index]
        assert found == {
            "make": "nvidia",
            "model": "NVIDIA H100 80GB HBM3",
            "id": reading.gpu.uuid,
            "memoryTotal": (reading.framebuffer_used + reading.framebuffer_free) * 2**20,
            "memoryUsed": reading.framebuffer_used * 2**20,
            "dutyCycle": round(reading.utilization * 100),
        }
