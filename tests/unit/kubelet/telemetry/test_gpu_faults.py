"""What open faults change of the metrics of GPUs."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from kwokctl.embedded.http.messages import RefusedError
from kwokctl.faults.classes.class_schema import FaultMetric
from kwokctl.faults.overlays.open_entries import OpenEntry, WorkloadEffect
from kwokctl.kubelet.telemetry.gpu_faults import SOUND, gpu_faults, is_match
from tests.support.gpu_nodes import gpu_node, gpu_pod
from tests.support.hit_nodes import hit, hit_by
from tests.support.usage_fleet import START, HandFleet

PAGE = "/metrics/nodes/a/dcgm"
USAGE = {"kwok.x-k8s.io/usage-nvidia.com-gpu": "50%"}
XID, UTIL = "DCGM_FI_DEV_XID_ERRORS", "DCGM_FI_DEV_GPU_UTIL"
LINKS, ENERGY = "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL", "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"
IDLE = 95.0
"""The power of a H100 without work."""


def metric(name: str, change: str, value: str = "") -> FaultMetric:
    return FaultMetric(name=name, change=change, value=value)  # type: ignore[arg-type]


def changed(name: str, change: str, value: str = "", **more: Any) -> OpenEntry:
    """Return a fault of GPU 0 that changes a metric."""
    usual: dict[str, Any] = {"gpu": 0, "metrics": (metric(name, change, value),)}
    return hit(**usual | more)


def fleet_with(*entries: OpenEntry, is_used: bool = True) -> HandFleet:
    """Return a fleet of one node with these faults, whose GPUs 0 and 1 work half of the time."""
    pods = [gpu_pod("train", 0, 1, annotations=USAGE)] if is_used else []
    return HandFleet(pods, [gpu_node(annotations=hit_by(*entries) if entries else {})])


def now_with(fleet: HandFleet, *entries: OpenEntry) -> None:
    """Give the node other faults."""
    fleet.of_nodes = [gpu_node(annotations=hit_by(*entries) if entries else {})]
    fleet.changed()


async def of_gpu(
    fleet: HandFleet, gpu: int = 0, age: float = 10, counters: str = "all"
) -> Mapping[str, float]:
    """Return the values of a GPU by the names of metrics."""
    fleet.age = age
    found = await fleet.series(PAGE, query=(("counters", counters),))
    return {
        name.partition("{")[0]: value for name, value in found.items() if f'{{gpu="{gpu}"' in name
    }


async def test_an_xid_is_that_of_the_last_fault_that_set_one_on_its_gpu() -> None:
    later = changed(XID, "set", "154", since=START + 2, fault="b", uid="b")
    first = changed(XID, "set", "79", since=START + 1)
    fleet = fleet_with(later, first)
    assert (await of_gpu(fleet))[XID] == 154
    assert (await of_gpu(fleet, gpu=1))[XID] == 0
    now_with(fleet, first)
    assert (await of_gpu(fleet))[XID] == 79
    now_with(fleet)
    assert (await of_gpu(fleet))[XID] == 0


@pytest.mark.parametrize("is_used", [True, False])
@pytest.mark.parametrize("state", ["lost", "missing"])
async def test_a_gpu_that_is_gone_has_no_series(state: str, *, is_used: bool) -> None:
    fleet = fleet_with(hit(gpu=1, device=state), is_used=is_used)
    assert await of_gpu(fleet, gpu=1) == {}
    assert UTIL in await of_gpu(fleet, gpu=0)
    now_with(fleet)
    assert UTIL in await of_gpu(fleet, gpu=1)


async def test_an_exporter_all_of_whose_gpus_are_gone_has_an_empty_page() -> None:
    fleet = fleet_with(*(hit(gpu=gpu, device="lost") for gpu in range(8)))
    assert await fleet.get(PAGE) == b""


@pytest.mark.parametrize("state", ["unhealthy", "slow"])
async def test_another_state_alone_changes_no_series(state: str) -> None:
    fleet = fleet_with(hit(gpu=0, device=state))
    assert await of_gpu(fleet) == await of_gpu(fleet_with())


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (changed("DCGM_FI_DEV_GPU_TEMP", "set", "90"), {"DCGM_FI_DEV_GPU_TEMP": 90}),
        (changed("DCGM_FI_DEV_GPU_TEMP_CELSIUS", "set", "90"), {"DCGM_FI_DEV_GPU_TEMP": 90}),
        (changed("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", "add", "1"), {"DCGM_FI_DEV_ECC_DBE_VOL_TOTAL": 1}),
        (changed("DCGM_FI_DEV_SM_CLOCK", "fall"), {"DCGM_FI_DEV_SM_CLOCK": 990}),
        (changed("DCGM_FI_DEV_MEM_CLOCK", "rise"), {"DCGM_FI_DEV_MEM_CLOCK": 3928}),
        (changed(UTIL, "rise"), {UTIL: 75}),
        (changed("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "rise"), {"DCGM_FI_PROF_PIPE_TENSOR_ACTIVE": 0.65}),
        (changed("DCGM_FI_DEV_ECC_SBE_VOL_TOTAL", "rise", since=START + 3), {"DCGM_FI_DEV_ECC_SBE_VOL_TOTAL": 7}),
        (changed("DCGM_FI_DEV_THERMAL_VIOLATION", "rise"), {"DCGM_FI_DEV_THERMAL_VIOLATION": 10e9}),
        (changed("DCGM_FI_DEV_(GPU|MEM_COPY)_UTIL", "set", "0"), {UTIL: 0, "DCGM_FI_DEV_MEM_COPY_UTIL": 0}),
        (changed(XID, "set", "79", gpu=None), {XID: 79}),
    ],
)  # fmt: skip
async def test_a_change_is_one_of_the_metrics_that_it_names(
    entry: OpenEntry, expected: Mapping[str, float]
) -> None:
    assert await of_gpu(fleet_with(entry)) == {**await of_gpu(fleet_with()), **expected}


async def test_a_metric_that_is_gone_has_no_series_for_its_gpu() -> None:
    found = await of_gpu(fleet_with(changed("DCGM_FI_DEV_.*", "gone")))
    assert found
    assert all(name.startswith("DCGM_FI_PROF_") for name in found)
    fleet = fleet_with(changed(f"{XID}|{UTIL}", "gone", gpu=None))
    assert UTIL not in (await fleet.get(PAGE)).decode()


async def test_an_exporter_is_down_if_a_fault_of_its_node_takes_all() -> None:
    fleet = fleet_with(changed("DCGM_FI_.*", "gone", gpu=None))
    with pytest.raises(RefusedError, match="the exporter of node 'a' is down") as raised:
        await fleet.get(PAGE)
    assert raised.value.status == 503
    summary = json.loads(await fleet.get("/stats/nodes/a/summary"))
    assert summary["pods"][0]["containers"][0]["accelerators"]


@pytest.mark.parametrize("gpu", [0, None])
async def test_a_gpu_that_hangs_is_busy_and_does_nothing(gpu: int | None) -> None:
    effect = WorkloadEffect(effect="hang", after="4s")
    fleet = fleet_with(hit(gpu=gpu, workload=effect))
    before = await of_gpu(fleet, age=3)
    assert before[UTIL] == 50
    during, later = [await of_gpu(fleet, age=age) for age in (6, 10)]
    assert (during[UTIL], during["DCGM_FI_PROF_GR_ENGINE_ACTIVE"]) == (100, 1)
    for name in ("PROF_PIPE_TENSOR_ACTIVE", "PROF_DRAM_ACTIVE", "DEV_MEM_COPY_UTIL"):
        assert during[f"DCGM_FI_{name}"] == 0 < before[f"DCGM_FI_{name}"]
    assert during["DCGM_FI_DEV_POWER_USAGE"] == IDLE
    assert during[LINKS] == later[LINKS] == pytest.approx(before[LINKS] * 4 / 3, rel=1e-5)
    assert later[ENERGY] - during[ENERGY] == pytest.approx(IDLE * 4 * 1000, abs=1)


async def test_a_gpu_without_a_program_does_not_hang() -> None:
    fleet = fleet_with(hit(workload=WorkloadEffect(effect="hang")), is_used=False)
    assert (await of_gpu(fleet))[UTIL] == 0


async def test_the_class_may_say_that_a_gpu_that_hangs_is_idle() -> None:
    entry = changed(UTIL, "set", "0", workload=WorkloadEffect(effect="hang"))
    assert (await of_gpu(fleet_with(entry)))[UTIL] == 0


async def test_work_goes_on_after_a_hang_and_counters_lack_its_time() -> None:
    fleet = fleet_with()
    await of_gpu(fleet, age=0)
    fleet.age = 10
    now_with(fleet, hit(gpu=0, since=START + 10, workload=WorkloadEffect(effect="hang")))
    fleet.age = 30
    now_with(fleet)
    hit_one, other = await of_gpu(fleet, age=40), await of_gpu(fleet, gpu=1, age=40)
    assert hit_one[LINKS] == pytest.approx(other[LINKS] / 2, rel=1e-3)
    assert hit_one[UTIL] == other[UTIL] == 50


async def test_a_counter_that_falls_grows_at_half_its_rate_and_never_catches_up() -> None:
    fleet = fleet_with()
    await of_gpu(fleet, age=0)
    fleet.age = 10
    now_with(fleet, changed(LINKS, "fall", since=START + 10))
    seen = [(await of_gpu(fleet, age=age))[LINKS] for age in (10, 20)]
    second = (await of_gpu(fleet, gpu=1, age=20))[LINKS] / 20
    assert seen == [pytest.approx(second * seconds, rel=1e-3) for seconds in (10, 15)]
    now_with(fleet)
    seen = [(await of_gpu(fleet, age=age))[LINKS] for age in (20, 30)]
    assert seen == [pytest.approx(second * seconds, rel=1e-3) for seconds in (15, 25)]


async def test_the_summary_agrees_with_the_page() -> None:
    fleet = fleet_with(
        changed(UTIL, "set", "7"),
        hit("b", gpu=1, device="lost"),
    )
    pods = json.loads(await fleet.get("/stats/nodes/a/summary"))["pods"]
    found = pods[0]["containers"][0]["accelerators"]
    assert [each["dutyCycle"] for each in found] == [7]
    now_with(fleet, hit(gpu=None, workload=WorkloadEffect(effect="hang")))
    pods = json.loads(await fleet.get("/stats/nodes/a/summary"))["pods"]
    assert [each["dutyCycle"] for each in pods[0]["containers"][0]["accelerators"]] == [100, 100]


@pytest.mark.parametrize(
    "entry",
    [
        changed("(", "set", "1"),
        changed("(.*)*x", "set", "1"),
        changed("DCGM_FI_DEV", "gone"),
        changed(XID, "set", "many"),
        changed(XID, "add", "nan"),
        hit(gpu=99, device="lost"),
    ],
)
async def test_what_means_nothing_changes_nothing(entry: OpenEntry) -> None:
    assert await of_gpu(fleet_with(entry)) == await of_gpu(fleet_with())


def test_a_gpu_is_in_the_worst_of_its_states() -> None:
    states = ("slow", "missing", "lost", "unhealthy")
    entries = [hit(str(place), gpu=3, device=state) for place, state in enumerate(states)]
    assert gpu_faults(entries, 3).state == "missing"
    assert gpu_faults(entries[2:], 3).state == "lost"
    assert gpu_faults(entries, 4) is SOUND


def test_a_pattern_is_one_of_the_whole_name() -> None:
    assert is_match("DCGM_FI_DEV_.*", XID)
    assert not is_match("DCGM_FI_DEV_", XID)
    assert not is_match("A|DCGM", XID)
