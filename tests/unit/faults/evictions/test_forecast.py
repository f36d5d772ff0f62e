"""The forecast of evictions: the regimes of the node lifecycle controller, and what was seen on a real one.

The times are those of Kubernetes 1.36 with its defaults unless a test says otherwise.
"""

from collections.abc import Sequence

import pytest

from kwokctl.errors import ExpressionError, UsageError
from kwokctl.faults.evictions.eviction_flags import EvictionFlags, eviction_flags
from kwokctl.faults.evictions.eviction_forecast import (
    EvictionForecast,
    ZoneForecast,
    ZoneOutlook,
    forecast,
)
from kwokctl.faults.evictions.eviction_zones import outlooks, zone_of
from kwokctl.faults.evictions.taint_queue import TaintQueue
from kwokctl.faults.evictions.zone_states import zone_state
from tests.support.fault_targets import candidate_node, pod


def zone(
    nodes: int, silent: int, name: str = "", *, stay: float | None = 300.0, unready: int = 0
) -> ZoneOutlook:
    """Return a zone whose silent nodes have a pod each."""
    return ZoneOutlook(name=name, nodes=nodes, silent=[[stay]] * silent, unready=unready)


HEALTHY = zone(10, 0, "healthy")


def only(found: EvictionForecast) -> ZoneForecast:
    return found.zones[0]


# The regimes


def test_few_silent_nodes_of_a_zone_are_tainted_one_in_ten_seconds() -> None:
    """Issue: one or two pods of a hundred nodes are evicted after six minutes."""
    found = forecast([zone(1000, 100)])

    assert only(found).state == "normal"
    assert only(found).tainted[:3] == (45.0, 55.0, 65.0)
    assert only(found).evicted[:3] == (345.0, 355.0, 365.0)
    assert len(only(found).tainted) == 100
    assert (found.evicted_by(344), found.evicted_by(345), found.evicted_by(360)) == (0, 1, 2)
    assert (
        only(found).words
        == "less than 55% of the zone is not Ready, or fewer than 3 nodes: a node is tainted every 10s"
    )


def test_most_of_a_small_zone_stops_it() -> None:
    found = forecast([zone(10, 6), HEALTHY])

    assert only(found).state == "partial"
    assert only(found).tainted == (45.0,)  # the looks find the first nodes before they find most
    assert (
        only(found).words
        == "55% or more of a zone of up to 50 nodes is not Ready: no further node is tainted"
    )


def test_most_of_a_large_zone_slows_it_to_one_node_in_a_hundred_seconds() -> None:
    found = forecast([zone(60, 40), HEALTHY])

    assert only(found).state == "partial"
    assert only(found).tainted[:4] == (45.0, 150.0, 250.0, 350.0)
    assert (
        only(found).words
        == "55% or more of a zone of more than 50 nodes is not Ready: a node is tainted every 100s"
    )


def test_a_zone_that_is_wholly_silent_goes_on_as_usual() -> None:
    found = forecast([zone(10, 10), HEALTHY])

    assert only(found).state == "full"
    assert only(found).tainted[:3] == (45.0, 55.0, 65.0)
    assert len(only(found).tainted) == 10
    assert (
        only(found).words
        == "no node of the zone is Ready, and others are: a node is tainted every 10s"
    )


@pytest.mark.parametrize("zones", [[zone(10, 10)], [zone(10, 10, "a"), zone(100, 100, "b")]])
def test_no_pod_is_evicted_if_all_zones_are_silent(zones: Sequence[ZoneOutlook]) -> None:
    found = forecast(zones)

    assert {each.state for each in found.zones} == {"over"}
    assert (found.tainted_by(1e9), found.evicted_by(1e9)) == (0, 0)
    assert (
        only(found).words
        == "no node of any zone is Ready, and taints are taken back: no further node is tainted"
    )


def test_pods_that_do_not_stay_are_evicted_before_all_zones_are_silent() -> None:
    """The first taint comes with the first node, five seconds before the last one is found."""
    found = forecast([zone(10, 10, stay=0.0)])

    assert only(found).evicted == (45.0,)
    assert only(found).tainted == ()


def test_zones_do_not_depend_on_each_other_while_one_is_not_silent() -> None:
    zones = [zone(10, 10, "a"), zone(10, 6, "b"), zone(10, 2, "c"), zone(60, 40, "d")]

    together = forecast(zones)

    assert [each.state for each in together.zones] == ["full", "partial", "normal", "partial"]
    assert list(together.zones) == [only(forecast([each, HEALTHY])) for each in zones]


def test_what_a_real_controller_manager_did() -> None:
    """Kubernetes 1.36.3: the times of the taints of four zones, from the first that was found Unknown on.

    A taint may come while the controller still looks: that is the second one of `b`, and five seconds are a look.
    """
    seen = {
        "a": [0, 20, 30, 41, 51, 61, 71, 81, 91, 101],
        "b": [0, 10],
        "c": [0, 10],
        "d": [5, 15, 116, 216],
    }

    zones = [zone(10, 10, "a"), zone(10, 6, "b"), zone(10, 2, "c"), zone(60, 40, "d")]
    found = {each.name: each.tainted for each in forecast(zones, horizon=270).zones}

    for name, times in seen.items():
        assert abs(len(times) - len(found[name])) <= 1
        for time, forecasted in zip(times[-2:], found[name][-2:], strict=False):
            assert abs(time - (forecasted - 45)) <= 15


# The borders between them


@pytest.mark.parametrize(
    ("nodes", "unready", "state"),
    [
        (10, 0, "normal"),
        (10, 5, "normal"),
        (10, 6, "partial"),
        (20, 11, "partial"),
        (20, 10, "normal"),
        (3, 2, "normal"),
        (5, 3, "partial"),
        (1, 1, "full"),
        (2, 2, "full"),
        (0, 0, "normal"),
    ],
)
def test_the_state_of_a_zone(nodes: int, unready: int, state: str) -> None:
    assert zone_state(nodes, unready, EvictionFlags()) == state


@pytest.mark.parametrize(("nodes", "more"), [(50, False), (51, True)])
def test_a_zone_is_large_from_51_nodes_on(nodes: int, more: bool) -> None:
    found = only(forecast([zone(nodes, 40), HEALTHY]))

    assert (len(found.tainted) > 1) is more


def test_nodes_that_were_not_ready_before_count() -> None:
    assert only(forecast([zone(10, 3), HEALTHY])).state == "normal"
    assert only(forecast([zone(10, 3, unready=3), HEALTHY])).state == "partial"
    assert only(forecast([zone(10, 3), HEALTHY])).tainted == (45.0, 55.0, 65.0)
    assert only(forecast([zone(10, 3, unready=3), HEALTHY])).tainted == (45.0,)
    assert only(forecast([zone(10, 3, unready=7), HEALTHY])).state == "full"
    # It stood still as a zone most of which is not Ready, and goes on with an empty bucket.
    assert only(forecast([zone(10, 1, unready=9), HEALTHY])).tainted == (55.0,)
    assert only(forecast([zone(10, 3, unready=7)])).state == "over"
    assert only(forecast([zone(10, 0, unready=10), zone(10, 4)])).state == "full"


def test_a_cluster_that_was_silent_before_is_no_news() -> None:
    found = forecast([zone(10, 0, unready=10), zone(10, 10, "b", unready=0)])

    assert [each.state for each in found.zones] == ["over", "over"]
    assert found.tainted_by(1e9) == 0


# Times


def test_nodes_are_unknown_after_the_grace_period_of_their_last_sign_of_life() -> None:
    found = forecast([zone(10, 1)])
    assert (found.unknown_from, found.unknown_until) == (40.0, 55.0)

    slow = EvictionFlags(grace=42.0, period=10.0, renewal=20.0)
    found = forecast([zone(10, 2)], slow)
    assert (found.unknown_from, found.unknown_until) == (30.0, 60.0)
    assert only(found).tainted == (40.0, 50.0)


def test_a_pod_stays_as_long_as_it_tolerates() -> None:
    stays = ZoneOutlook(name="", nodes=100, silent=[[0.0, 30.0, None], [], [7.0]])

    found = forecast([stays])

    assert only(found).tainted == (45.0, 55.0, 65.0)
    assert only(found).evicted == (45.0, 72.0, 75.0)
    assert only(found).pods == 4


def test_what_comes_after_the_horizon_is_left_out() -> None:
    found = forecast([zone(1000, 100)], horizon=360.0)

    assert found.horizon == 360.0
    assert only(found).evicted == (345.0, 355.0)
    assert len(only(found).tainted) == 32
    assert found.tainted_by(55.0) == 2


def test_the_rates_are_those_of_the_flags() -> None:
    fast = EvictionFlags(rate=1.0, reduced_rate=0.5, large_zone=5, unhealthy=0.3)

    assert only(forecast([zone(100, 10)], fast)).tainted[:3] == (45.0, 46.0, 47.0)
    partial = only(forecast([zone(10, 4), HEALTHY], fast))
    assert partial.state == "partial"
    assert partial.tainted == (45.0, 46.0, 50.0, 52.0)


def test_a_rate_of_zero_leaves_the_one_token_of_the_start() -> None:
    found = only(forecast([zone(100, 10)], EvictionFlags(rate=0.0)))

    assert found.tainted == (45.0,)
    assert found.words.endswith("no further node is tainted")


def test_a_zone_without_silent_nodes_and_one_without_nodes() -> None:
    found = forecast([HEALTHY, zone(0, 0, "none")])

    assert [each.name for each in found.zones] == ["healthy"]
    assert (only(found).state, only(found).tainted, only(found).pods) == ("normal", (), 0)


# The queue


def test_a_queue_has_one_token_at_first_and_never_more() -> None:
    queue = TaintQueue(0.1)
    for node in range(3):
        queue.add(node)

    assert queue.due(100.0, 111.0) == [(100.0, 0), (110.0, 1)]
    assert queue.due(111.0, 120.0) == []
    assert queue.due(120.0, 121.0) == [(120.0, 2)]


@pytest.mark.parametrize(
    ("rate", "seconds"), [(0.1, 10.0), (3.0, 0.4), (8.0, 0.2), (10.0, 0.1), (100.0, 0.1)]
)
def test_nodes_come_with_the_looks_at_the_queue(rate: float, seconds: float) -> None:
    queue = TaintQueue(rate)
    for node in range(2):
        queue.add(node)

    assert queue.due(0.0, 60.0) == [(0.0, 0), (seconds, 1)]


def test_another_rate_begins_with_a_token_only_if_there_was_one() -> None:
    with_token, without = TaintQueue(0.1), TaintQueue(0.1)
    for queue in (with_token, without):
        queue.add(0)
        queue.add(1)
    without.due(0.0, 1.0)

    with_token.swap(1.0, 5.0)
    without.swap(1.0, 5.0)

    assert with_token.due(5.0, 5.5) == [(5.0, 0)]
    assert without.due(5.0, 7.0) == [(6.0, 1)]


def test_the_same_rate_changes_nothing() -> None:
    queue = TaintQueue(0.1)
    queue.add(0)
    queue.add(1)
    queue.due(0.0, 1.0)

    queue.swap(0.1, 9.0)

    assert queue.due(9.0, 11.0) == [(10.0, 1)]


def test_a_queue_that_stood_still_goes_on_with_an_empty_bucket() -> None:
    queue = TaintQueue(0.1)
    queue.add(0)
    queue.swap(0.0, 1.0)
    assert queue.due(1.0, 1e9) == []

    queue.swap(0.1, 50.0)

    assert queue.due(50.0, 1e9) == [(60.0, 0)]


# Flags and zones


def test_flags_are_read_as_the_controller_manager_has_them() -> None:
    arguments = (
        "--node-monitor-grace-period=40000ms", "--node-monitor-period=2s", "--node-eviction-rate=0.5",
        "--secondary-node-eviction-rate=0.05", "--large-cluster-size-threshold=20",
        "--unhealthy-zone-threshold=0.8", "--leader-elect=false", "--v=2", "--node-monitor-period",
    )  # fmt: skip

    assert eviction_flags(arguments, renewal=2.5) == EvictionFlags(
        grace=40.0,
        period=2.0,
        rate=0.5,
        reduced_rate=0.05,
        large_zone=20,
        unhealthy=0.8,
        renewal=2.5,
    )
    assert eviction_flags(()) == EvictionFlags()


def test_flags_that_are_none_are_refused() -> None:
    with pytest.raises(UsageError, match="'--node-eviction-rate=fast': 'fast' is not a number"):
        eviction_flags(["--node-eviction-rate=fast"])
    with pytest.raises(ExpressionError, match="'soon' is not a duration"):
        eviction_flags(["--node-monitor-period=soon"])


ZONE, REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
OLD = "failure-domain.beta.kubernetes.io"


@pytest.mark.parametrize(
    ("labels", "name"),
    [
        ({}, ""),
        ({ZONE: "a"}, "a"),
        ({REGION: "eu"}, "eu"),
        ({REGION: "eu", ZONE: "a"}, "eu/a"),
        ({ZONE: "new", f"{OLD}/zone": "old"}, "old"),
        ({REGION: "new", f"{OLD}/region": "old", ZONE: "a"}, "old/a"),
    ],
)
def test_the_zone_of_a_node(labels: dict[str, str], name: str) -> None:
    assert zone_of(labels) == name


def test_zones_are_made_of_nodes_and_their_pods() -> None:
    nodes = [
        candidate_node("b-0", pod(stay=7.0), pod("default/x", stay=None), labels={ZONE: "b"}),
        candidate_node("b-1", labels={ZONE: "b"}, is_ready=False),
        candidate_node("b-2", labels={ZONE: "b"}, is_ready=False),
        candidate_node("n-0", pod()),
    ]

    assert outlooks(nodes, {"b-0", "b-2"}) == (
        ZoneOutlook(name="", nodes=1, silent=[]),
        ZoneOutlook(name="b", nodes=3, silent=[[7.0, None], []], unready=1),
    )
