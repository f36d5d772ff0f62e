from typing import Any

import msgspec
import pytest

from tests.support.usage_fleet import RESOURCE, START, HandFleet, node, pod, running

CPU = {"kwok.x-k8s.io/usage-cpu": "1"}
OF_POD = 'pod_cpu_usage_seconds_total{{namespace="default",pod="{}"}}'
OF_NODE = "node_cpu_usage_seconds_total"
MEMORY_OF_NODE = "node_memory_working_set_bytes"
QUIET = {"kwok.x-k8s.io/usage-cpu": "0", "kwok.x-k8s.io/usage-memory": "0"}


def changed(view: Any, **fields: Any) -> Any:
    return msgspec.structs.replace(view, **fields)


async def at(fleet: HandFleet, age: float) -> dict[str, float]:
    fleet.age = age
    return dict(await fleet.series())


async def test_a_counter_is_above_0_from_the_first_scrape_on() -> None:
    found = await at(HandFleet([pod(annotations=QUIET)], [node(annotations=QUIET)]), 0)
    assert all(value > 0 for name, value in found.items() if "error" not in name)
    assert await at(HandFleet([], [node()]), 0)


async def test_counters_advance_with_time_and_not_with_scrapes() -> None:
    often, seldom = (HandFleet([pod(annotations=CPU)]) for _ in range(2))
    for age in range(0, 300, 7):
        await at(often, age)
    assert await at(often, 300) == pytest.approx(await at(seldom, 300))


async def test_a_second_scrape_at_the_same_time_tells_the_same() -> None:
    fleet = HandFleet([pod(annotations=CPU)])
    assert await at(fleet, 30) == await at(fleet, 30)


async def test_only_containers_that_run_use_something() -> None:
    containers = (
        running("first", is_init=True, is_running=False, started_at=0.0),
        running("sidecar", is_init=True, is_sidecar=True),
        running("app"),
        running("done", is_running=False, started_at=0.0),
    )
    found = await at(HandFleet([pod("web", *containers, annotations=CPU)]), 10)
    assert found[OF_POD.format("web")] == pytest.approx(10, rel=1e-3)
    assert [name for name in found if name.startswith("container_cpu")] == [
        f'container_cpu_usage_seconds_total{{container="{name}",namespace="default",pod="web"}}'
        for name in ("sidecar", "app")
    ]


async def test_a_pod_without_a_running_container_has_no_series() -> None:
    stopped = running(is_running=False, started_at=0.0)
    found = await at(HandFleet([pod("web", stopped)]), 10)
    assert not [name for name in found if "pod=" in name]


async def test_start_times_are_points_in_time() -> None:
    found = await at(HandFleet([pod()]), 500)
    [start] = [value for name, value in found.items() if name.startswith("container_start")]
    assert start == START


async def test_a_restarted_container_begins_anew_while_its_pod_goes_on() -> None:
    fleet = HandFleet([pod(annotations=CPU)])
    before = await at(fleet, 100)
    again = running(started_at=START + 110, restarts=1)
    fleet.pods = [changed(fleet.pods[0], containers=(again,))]
    fleet.age = 110
    fleet.routes.changed("a")
    after = await at(fleet, 130)
    [container] = [value for name, value in after.items() if name.startswith("container_cpu")]
    assert container == pytest.approx(20, rel=1e-3)
    assert before[OF_POD.format("web")] == pytest.approx(100, rel=1e-3)
    assert after[OF_POD.format("web")] == pytest.approx(130, rel=1e-3)


async def test_a_change_counts_from_its_time_on_and_not_from_the_last_scrape() -> None:
    fleet = HandFleet([pod(annotations=CPU)])
    await at(fleet, 10)
    fleet.age = 40
    fleet.pods = [changed(fleet.pods[0], annotations={"kwok.x-k8s.io/usage-cpu": "3"})]
    fleet.routes.changed("a")
    assert (await at(fleet, 50))[OF_POD.format("web")] == pytest.approx(40 + 30, rel=1e-3)


async def test_a_node_uses_what_its_pods_do_and_something_of_its_own() -> None:
    own = {"kwok.x-k8s.io/usage-cpu": "2", "kwok.x-k8s.io/usage-memory": "1Gi"}
    fleet = HandFleet([pod("web", annotations=CPU), pod("db", annotations=CPU)])
    fleet.of_nodes = [node(annotations=own)]
    found = await at(fleet, 10)
    assert found[OF_NODE] == pytest.approx(10 + 10 + 20, rel=1e-3)
    assert found[MEMORY_OF_NODE] == 2**30 + 2 * 2**20


async def test_the_counter_of_a_node_keeps_what_pods_used_that_are_gone() -> None:
    fleet = HandFleet([pod("web", annotations=CPU)], [node(annotations=QUIET)])
    await at(fleet, 10)
    fleet.pods, fleet.age = [], 30
    fleet.routes.changed("a")
    found = await at(fleet, 500)
    assert found[OF_NODE] == pytest.approx(30, rel=1e-3)
    assert found[MEMORY_OF_NODE] >= 0


async def test_cpu_and_memory_of_a_node_are_kept_apart() -> None:
    text = """
kind: Metric
metadata: {name: both}
spec:
  path: /metrics/both/{nodeName}
  metrics:
  - {name: memory, kind: counter, value: 'node.CumulativeUsage("memory")'}
  - {name: cpu, kind: counter, value: 'node.CumulativeUsage("cpu")'}
"""
    fleet = HandFleet([pod(annotations=CPU)], [node(annotations=QUIET)], text, age=10)
    found = await fleet.series("/metrics/both/a")
    assert found["cpu"] == pytest.approx(10, rel=1e-3)
    assert found["memory"] == pytest.approx(10 * 2**20, rel=1e-3)


async def test_what_is_known_of_a_node_goes_with_it() -> None:
    fleet = HandFleet([pod(annotations=CPU)])
    await at(fleet, 10)
    fleet.of_nodes = []
    fleet.routes.changed("a")
    fleet.of_nodes, fleet.age = [node(created=START + 20)], 20
    fleet.pods = []
    assert (await fleet.series(RESOURCE.format("a")))[OF_NODE] < 0.001


async def test_how_many_containers_were_started_is_known() -> None:
    text = """
kind: Metric
metadata: {name: started}
spec:
  path: /metrics/started/{nodeName}
  metrics:
  - {name: by_node, kind: counter, value: node.StartedContainersTotal()}
  - {name: by_name, kind: counter, value: StartedContainersTotal(node.metadata.name)}
"""
    fleet = HandFleet([pod("web"), pod("db")], text=text)
    await fleet.series("/metrics/started/a")
    fleet.pods = [changed(fleet.pods[0], containers=(running(started_at=START + 5),))]
    fleet.age = 5
    assert await fleet.series("/metrics/started/a") == {"by_node": 3, "by_name": 3}
