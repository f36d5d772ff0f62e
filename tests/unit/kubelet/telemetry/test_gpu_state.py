import msgspec
import pytest

from kwokctl.fleet.device_health import DEVICE_HEALTH, DEVICE_INVENTORY
from kwokctl.fleet.devices import GPU
from kwokctl.kubelet.telemetry.gpu_reading import GpuReading
from tests.support.gpu_nodes import H100, gpu_node, gpu_pod
from tests.support.usage_fleet import START, HandFleet, node, running

USAGE = "kwok.x-k8s.io/usage-nvidia.com-gpu"
MEMORY = "kwok.x-k8s.io/usage-nvidia.com-gpu.memory"
IDLE, LIMIT = 95.0, 700.0
"""The power of a H100."""


def readings(fleet: HandFleet, age: float) -> list[GpuReading]:
    fleet.age = age
    return list(fleet.gpus.readings("a"))


def test_a_node_without_gpus_has_no_readings() -> None:
    fleet = HandFleet([], [node()])
    assert (readings(fleet, 1), fleet.gpus.readings("unknown")) == ([], ())


def test_an_idle_gpu_draws_idle_power_and_has_no_user() -> None:
    first, *others = readings(HandFleet([], [gpu_node()]), 10)

    assert len(others) == 7
    assert (first.gpu.index, first.gpu.product) == (0, "NVIDIA H100 80GB HBM3")
    assert (first.utilization, first.memory_utilization, first.users) == (0, 0, ())
    assert (first.power, first.temperature, first.memory_temperature) == (IDLE, 34, 32)
    assert (first.sm_clock, first.memory_clock) == (345, 2619)
    assert (first.framebuffer_used, first.framebuffer_free) == (0, 81559 - 1024)
    assert (first.energy, first.busy) == (IDLE * 10 * 1000, 0)


def test_a_used_gpu_follows_what_its_container_uses() -> None:
    fleet = HandFleet([gpu_pod("train", 0, 3, annotations={USAGE: "50%"})], [gpu_node()])

    found = readings(fleet, 10)

    assert [each.gpu.index for each in found if each.users] == [0, 3]
    used = found[3]
    assert used.utilization == 0.5
    assert used.power == IDLE + (LIMIT - IDLE) / 2
    assert (used.temperature, used.sm_clock) == (34 + (68 - 34) / 2, 1980)
    assert used.framebuffer_used == round((81559 - 1024) * 0.8)
    assert used.framebuffer_used + used.framebuffer_free + used.framebuffer_reserved == 81559
    [user] = used.users
    assert (user.namespace, user.pod, user.uid) == ("default", "train", "uid-train")
    assert (user.container, user.device_id) == ("app", used.gpu.uuid)


def test_without_a_usage_a_gpu_works_most_of_the_time() -> None:
    found = readings(HandFleet([gpu_pod("train", 0)], [gpu_node()]), 10)
    assert found[0].utilization == 0.9


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ("2", 1.0),
        ("1", 0.5),
        ("{sine: {mean: 100%, amplitude: 50%, period: 20s}}", 1.0),
        ("{expression: '7.0'}", 1.0),
        ("{inference: {mean: 100%}}", 1.0),
    ],
)
def test_no_gpu_works_more_than_all_the_time(usage: str, expected: float) -> None:
    fleet = HandFleet([gpu_pod("train", 0, 1, annotations={USAGE: usage})], [gpu_node()])
    found = readings(fleet, 5)
    assert found[0].utilization == pytest.approx(expected)
    assert found[0].busy == pytest.approx(expected * 5, abs=1e-5)


def test_memory_is_an_amount_or_a_share_of_the_framebuffer() -> None:
    of_amount = gpu_pod("a", 0, 1, annotations={MEMORY: "64Gi"})
    of_share = gpu_pod("b", 2, annotations={MEMORY: "10%"})
    too_much = gpu_pod("c", 3, annotations={MEMORY: "1Ti"})
    found = readings(HandFleet([of_amount, of_share, too_much], [gpu_node()]), 5)
    whole = 81559 - 1024
    used = [each.framebuffer_used for each in found[:4]]
    assert used == [32 * 1024, 32 * 1024, round(whole * 0.1), whole]


def test_energy_is_an_integral_that_advances_with_time_and_not_with_scrapes() -> None:
    ramp = {USAGE: "{ramp: {from: 0%, to: 100%, over: 100s}}"}
    often, seldom = (HandFleet([gpu_pod("train", 0, annotations=ramp)], [gpu_node()]) for _ in "ab")
    for age in range(0, 100, 3):
        readings(often, age)

    energies = [readings(fleet, 100)[0].energy for fleet in (often, seldom)]

    expected = (IDLE * 100 + (LIMIT - IDLE) * 50) * 1000
    assert energies == [pytest.approx(expected), pytest.approx(expected)]
    assert readings(often, 100)[0].energy == energies[0]


def test_energy_of_a_pod_that_is_gone_stays() -> None:
    fleet = HandFleet([gpu_pod("train", 0, annotations={USAGE: "100%"})], [gpu_node()])
    readings(fleet, 10)
    fleet.age, fleet.pods = 40, []
    fleet.changed()

    found = readings(fleet, 100)[0]

    assert (found.utilization, found.users, found.power) == (0, (), IDLE)
    assert found.busy == pytest.approx(40)
    assert found.energy == pytest.approx((IDLE * 100 + (LIMIT - IDLE) * 40) * 1000)


def test_a_container_that_is_restarted_goes_on_with_the_counters() -> None:
    fleet = HandFleet([gpu_pod("train", 0, annotations={USAGE: "100%"})], [gpu_node()])
    readings(fleet, 10)
    fleet.age = 20
    stopped = running(is_running=False)
    fleet.pods = [gpu_pod("train", 0, container=stopped, annotations={USAGE: "100%"})]
    fleet.changed()
    assert readings(fleet, 25)[0].utilization == 0
    again = running(started_at=START + 30)
    fleet.pods = [gpu_pod("train", 0, container=again, annotations={USAGE: "100%"})]
    fleet.age = 30
    fleet.changed()
    assert readings(fleet, 50)[0].busy == pytest.approx(20 + 20, abs=1e-4)


def test_a_usage_that_changes_counts_from_then_on() -> None:
    fleet = HandFleet([gpu_pod("train", 0, annotations={USAGE: "100%"})], [gpu_node()])
    readings(fleet, 10)
    fleet.age, fleet.pods = 20, [gpu_pod("train", 0, annotations={USAGE: "50%"})]
    fleet.changed()
    assert readings(fleet, 40)[0].busy == pytest.approx(20 + 10, abs=1e-4)


def test_those_that_share_a_gpu_get_equal_parts_of_it() -> None:
    shared = gpu_node(
        labels=H100 | {"nvidia.com/gpu.count": "1", "nvidia.com/gpu.replicas": "4"},
        capacity={GPU: "4"},
    )
    usages = {"one": "100%", "two": "50%"}
    pods = [
        gpu_pod(name, place, on=shared, annotations={USAGE: usage})
        for place, (name, usage) in enumerate(usages.items())
    ]
    fleet = HandFleet(pods, [shared])

    [found] = readings(fleet, 10)

    assert found.utilization == 0.75
    assert [(user.pod, user.utilization) for user in found.users] == [("one", 1.0), ("two", 0.5)]
    fleet.pods = pods[:1]
    fleet.changed()
    [alone] = readings(fleet, 30)
    assert alone.utilization == 1.0
    assert alone.busy == pytest.approx(7.5 + 20, abs=1e-4)


def test_a_part_of_mig_works_and_holds_its_part() -> None:
    resource = "nvidia.com/mig-3g.40gb"
    divided = gpu_node(labels=H100 | {"nvidia.com/gpu.count": "1"}, capacity={resource: "2"})
    usage = {"kwok.x-k8s.io/usage-nvidia.com-mig-3g.40gb": "100%", MEMORY: "50%"}
    fleet = HandFleet(
        [gpu_pod("part", 1, on=divided, resource=resource, annotations=usage)], [divided]
    )

    [found] = readings(fleet, 10)

    assert found.utilization == pytest.approx(3 / 7)
    assert found.framebuffer_used == round((81559 - 1024) * 3 / 7 * 0.5)
    assert found.users[0].device_id.startswith("MIG-")


def test_only_containers_that_run_use_their_gpus() -> None:
    waiting = running(is_running=False, started_at=0.0)
    found = readings(HandFleet([gpu_pod("train", 0, container=waiting)], [gpu_node()]), 10)
    assert not found[0].users


def test_a_pod_that_requests_gpus_but_has_none_uses_none() -> None:
    requesting = running(requests={GPU: "8"})
    found = readings(HandFleet([gpu_pod("train", container=requesting)], [gpu_node()]), 10)
    assert not any(each.users or each.utilization for each in found)


def test_an_unknown_device_is_of_no_gpu() -> None:
    lost = gpu_pod("train", 0)
    devices = (msgspec.structs.replace(lost.devices[0], device_id="GPU-other"),)
    fleet = HandFleet([msgspec.structs.replace(lost, devices=devices)], [gpu_node()])
    assert not any(each.users for each in readings(fleet, 10))


def test_a_node_that_is_made_again_begins_anew() -> None:
    fleet = HandFleet([gpu_pod("train", 0)], [gpu_node()])
    readings(fleet, 10)
    fleet.of_nodes = []
    fleet.changed()
    fleet.pods, fleet.of_nodes = [], [gpu_node(created=START + 100)]
    assert readings(fleet, 110)[0].energy == pytest.approx(IDLE * 10 * 1000)


def test_labels_that_come_later_name_the_product() -> None:
    fleet = HandFleet([gpu_pod("train", 0, annotations={USAGE: "1"})], [gpu_node(labels={})])
    assert readings(fleet, 10)[0].model.product == ""
    fleet.of_nodes = [gpu_node()]
    found = readings(fleet, 20)[0]
    assert found.model.power.limit == LIMIT
    assert found.busy == pytest.approx(20, abs=1e-4)


def test_a_missing_gpu_says_nothing_and_the_others_stay_what_they_are() -> None:
    fleet = HandFleet([gpu_pod("train", 7, annotations={USAGE: "1"})], [gpu_node()])
    before = readings(fleet, 10)
    lost = {DEVICE_HEALTH: "missing=3", DEVICE_INVENTORY: '{"devices":{"nvidia.com/gpu":8}}'}
    fleet.of_nodes = [gpu_node(annotations=lost, capacity={GPU: "7"})]

    found = readings(fleet, 20)

    assert [each.gpu.index for each in found] == [0, 1, 2, 4, 5, 6, 7]
    assert found[6].gpu == before[7].gpu
    assert found[6].busy == pytest.approx(20, abs=1e-4)
    fleet.of_nodes = [gpu_node(annotations={DEVICE_HEALTH: "nonsense"})]
    assert len(readings(fleet, 30)) == 8
