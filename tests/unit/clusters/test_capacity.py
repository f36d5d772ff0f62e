import pytest

from kwokctl import assets
from kwokctl.clusters import capacity
from kwokctl.clusters.capacity import CapacityPlan, Fleet, demand, estimate
from kwokctl.components.heartbeat import Heartbeat
from kwokctl.errors import CapacityError
from kwokctl.expr import yaml
from kwokctl.replacing import replace

REAL = Heartbeat(
    lease_seconds=40,
    status_milliseconds=10_000,
    monitor_period_milliseconds=5_000,
    monitor_grace_milliseconds=50_000,
)
NO_LEASES = replace(REAL, lease_seconds=0)
OFF = replace(NO_LEASES, status_milliseconds=0, is_off=True)
GIB = 1 << 30
LARGE = Fleet(nodes=10_000, pods=100_000)


def plan(
    fleet: Fleet = LARGE, heartbeat: Heartbeat = REAL, *, quota: int = 8 * GIB, memory: int = 0
) -> CapacityPlan:
    return estimate(fleet, heartbeat=heartbeat, quota=quota, memory=memory)


def test_a_renewal_a_node_each_ten_seconds_is_counted() -> None:
    assert plan().lease_writes_per_second == 1_000
    assert plan(heartbeat=replace(REAL, lease_seconds=200)).lease_writes_per_second == 200
    assert plan(heartbeat=OFF).lease_writes_per_second == 0


def test_what_was_measured_comes_out_within_a_quarter() -> None:
    settled = plan(replace(LARGE, is_placed=True))

    assert settled.apiserver_memory == pytest.approx(3.34e9, rel=0.25)
    assert settled.controller_memory == pytest.approx(256e6, rel=0.25)
    beating = plan(Fleet(nodes=10_000, pods=0))
    assert beating.etcd_bytes == pytest.approx(433e6, rel=0.25)
    assert beating.apiserver_memory == pytest.approx(1.18e9, rel=0.25)
    assert beating.others_memory == pytest.approx(1.81e9, rel=0.25)


def test_what_the_kubelet_server_takes_is_counted_where_all_usage_is_asked_for() -> None:
    idle, metered = plan(), plan(replace(LARGE, is_metered=True))

    assert (idle.kubelet_memory, idle.usage_round_seconds) == (40 << 20, 0.0)
    assert metered.kubelet_memory == pytest.approx(440e6, rel=0.25)
    assert metered.memory - idle.memory == metered.kubelet_memory - idle.kubelet_memory
    assert metered.usage_round_seconds == pytest.approx(4.5, rel=0.25)


def test_pods_that_are_made_with_their_nodes_are_written_once() -> None:
    placed = plan(replace(LARGE, is_placed=True))

    assert 2 * placed.etcd_bytes < 3 * (plan().etcd_bytes - placed.etcd_bytes)


def test_without_heartbeats_there_is_no_history() -> None:
    assert plan(heartbeat=OFF).etcd_bytes_per_hour == 0
    assert plan(heartbeat=OFF).etcd_bytes < plan().etcd_bytes


def test_statuses_as_heartbeats_write_more_history_than_leases() -> None:
    assert plan(heartbeat=NO_LEASES).etcd_bytes_per_hour > plan().etcd_bytes_per_hour


@pytest.mark.parametrize(
    "larger", [replace(LARGE, pod_size=8_000), replace(LARGE, node_size=50_000)]
)
def test_larger_objects_need_more_of_everything(larger: Fleet) -> None:
    usual, large = plan(), plan(larger)

    assert large.etcd_bytes > usual.etcd_bytes
    assert large.apiserver_memory > usual.apiserver_memory


def test_tiny_objects_never_need_less_than_the_programs_themselves() -> None:
    tiny = plan(Fleet(nodes=0, pods=1_000_000, pod_size=1))

    assert tiny.apiserver_memory >= plan(Fleet(nodes=0, pods=0)).apiserver_memory


def test_what_fits_says_how_much_is_taken() -> None:
    found = plan(memory=64 * GIB)

    assert found.fits
    assert "of 8Gi" in found.why
    demand(found)


def test_a_quota_that_is_too_small_is_reported_with_one_that_suffices() -> None:
    found = plan(quota=GIB)

    with pytest.raises(CapacityError, match="80% of its quota of 1Gi") as caught:
        demand(found)
    hint = str(caught.value.hint)
    assert "--etcd-quota-backend-size" in hint
    assert plan(quota=4 * GIB).fits
    assert hint.endswith(("2Gi", "4Gi"))


def test_too_little_memory_is_reported_beside_the_quota() -> None:
    found = plan(quota=GIB, memory=GIB)

    assert not found.fits
    assert "quota of 1Gi; the programs would need" in found.why
    assert "; use fewer" in found.remedy


def test_unknown_memory_is_no_obstacle() -> None:
    assert plan(memory=0).fits


@pytest.mark.parametrize(
    ("name", "has_leases"), [("node-heartbeat-with-lease", True), ("node-heartbeat", False)]
)
def test_the_refreshes_are_those_of_the_stages(name: str, has_leases: bool) -> None:
    delay = yaml.load(assets.text(f"stages/{name}.yaml"))["spec"]["delay"]
    beat = REAL if has_leases else NO_LEASES
    fleet = Fleet(nodes=1_000, pods=0)

    larger = plan(replace(fleet, node_size=capacity.NODE_BYTES + 1_000), beat)

    more = larger.etcd_bytes_per_hour - plan(fleet, beat).etcd_bytes_per_hour
    refreshes = 3600 / (delay["durationMilliseconds"] / 1000)
    assert more == pytest.approx(1_000 * 1_000 * refreshes)
