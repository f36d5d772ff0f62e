from typing import Any

import pytest

from kwokctl import assets
from kwokctl.components.heartbeat import (
    SLOWEST_STATUS_MILLISECONDS,
    Heartbeat,
    heartbeat,
    settle_heartbeat,
)
from kwokctl.config.options import ClusterOptions
from kwokctl.errors import UsageError
from kwokctl.expr import yaml
from kwokctl.replacing import replace
from tests.support.options import cluster_options

STRETCHED = Heartbeat(
    lease_seconds=200,
    status_milliseconds=50_000,
    monitor_period_milliseconds=25_000,
    monitor_grace_milliseconds=200_000,
)
REAL = Heartbeat(
    lease_seconds=40,
    status_milliseconds=10_000,
    monitor_period_milliseconds=5_000,
    monitor_grace_milliseconds=50_000,
)


def settled(
    *, is_fast: bool = True, is_monitored: bool = True, **given: Any
) -> tuple[ClusterOptions, Heartbeat]:
    """Settle the options that were given."""
    options = settle_heartbeat(
        cluster_options(**given), frozenset(given), is_fast=is_fast, is_monitored=is_monitored
    )
    return options, heartbeat(options)


def test_a_cluster_from_before_the_choice_keeps_its_stretched_times() -> None:
    assert heartbeat(cluster_options()) == STRETCHED


@pytest.mark.parametrize("factor", [0, 1])
def test_a_factor_of_nought_or_one_leaves_the_times_as_they_are(factor: int) -> None:
    assert heartbeat(cluster_options(heartbeat_factor=factor)).lease_seconds == 40


def test_where_writes_are_cheap_nodes_beat_as_real_ones() -> None:
    options, beat = settled(is_fast=True)

    assert (options.heartbeat.kind, options.heartbeat.factor) == ("real", 1)
    assert beat == REAL


def test_where_writes_are_dear_the_times_are_stretched() -> None:
    options, beat = settled(is_fast=False)

    assert options.heartbeat.kind == "stretched"
    assert beat == STRETCHED


@pytest.mark.parametrize(
    "given",
    [
        {"heartbeat_factor": 5},
        {"node_lease_duration_seconds": 30},
        {"node_status_update_frequency_milliseconds": 20_000},
        {"kube_controller_manager_node_monitor_grace_period_milliseconds": 60_000},
    ],
)
def test_times_that_the_user_gave_are_stretched_too(given: dict[str, Any]) -> None:
    options, beat = settled(**given)

    assert options.heartbeat.kind == "stretched"
    assert beat == heartbeat(cluster_options(**given))


def test_a_factor_of_one_asks_for_real_times() -> None:
    options, beat = settled(heartbeat_factor=1, is_fast=False)

    assert options.heartbeat.kind == "real"
    assert beat == REAL


def test_before_v1_32_a_silent_node_is_lost_after_forty_seconds() -> None:
    _, beat = settled(kube_version="v1.31.9")

    assert beat == replace(REAL, monitor_grace_milliseconds=40_000)


def test_real_heartbeats_take_the_times_that_were_given() -> None:
    _, beat = settled(
        node_heartbeat="real",
        node_lease_duration_seconds=8,
        kube_controller_manager_node_monitor_period_milliseconds=1_000,
        kube_controller_manager_node_monitor_grace_period_milliseconds=9_000,
    )

    assert beat == Heartbeat(
        lease_seconds=8,
        status_milliseconds=10_000,
        monitor_period_milliseconds=1_000,
        monitor_grace_milliseconds=9_000,
    )


def test_without_heartbeats_there_is_no_lease_and_no_node_is_ever_lost() -> None:
    _, beat = settled(node_heartbeat="off")

    assert beat.is_off
    assert beat.lease_seconds == 0
    assert beat.monitor_period_milliseconds == 5_000
    years = beat.monitor_grace_milliseconds / (365 * 24 * 3600 * 1000)
    assert 1 < years < 100


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (
            {"node_heartbeat": "real", "heartbeat_factor": 5},
            ("--node-heartbeat real", "--heartbeat-factor 5"),
        ),
        (
            {"node_heartbeat": "stretched", "heartbeat_factor": 1},
            ("--node-heartbeat stretched", "--heartbeat-factor 1"),
        ),
        (
            {"node_heartbeat": "off", "heartbeat_factor": 2},
            ("--node-heartbeat off", "--heartbeat-factor 2"),
        ),
        (
            {"node_heartbeat": "off", "node_lease_duration_seconds": 40},
            ("--node-heartbeat off", "--node-lease-duration-seconds 40"),
        ),
        (
            {
                "node_lease_duration_seconds": 600,
                "kube_controller_manager_node_monitor_grace_period_milliseconds": 40_000,
            },
            ("GracePeriodMilliseconds: 40000", "--node-lease-duration-seconds 600"),
        ),
        (
            {
                "kube_controller_manager_node_monitor_period_milliseconds": 30_000,
                "kube_controller_manager_node_monitor_grace_period_milliseconds": 40_000,
            },
            ("GracePeriodMilliseconds: 40000", "MonitorPeriodMilliseconds: 30000"),
        ),
        (
            {
                "node_lease_duration_seconds": 0,
                "node_status_update_frequency_milliseconds": 40_000,
                "kube_controller_manager_node_monitor_grace_period_milliseconds": 40_000,
            },
            ("--node-lease-duration-seconds 0", "nodeStatusUpdateFrequencyMilliseconds: 40000"),
        ),
        (
            {
                "node_heartbeat": "real",
                "node_lease_duration_seconds": 0,
                "kube_controller_manager_node_monitor_grace_period_milliseconds": 20_000,
            },
            ("--node-lease-duration-seconds 0", "GracePeriodMilliseconds: 20000"),
        ),
    ],
)
def test_times_that_contradict_each_other_are_refused_with_both_and_a_remedy(
    given: dict[str, Any], named: tuple[str, str]
) -> None:
    with pytest.raises(UsageError) as caught:
        settled(**given)

    assert [name for name in named if name not in str(caught.value)] == []
    assert caught.value.hint


@pytest.mark.parametrize("factor", [1, 5])
@pytest.mark.parametrize(
    ("given", "least"),
    [
        ({"node_lease_duration_seconds": 60}, 60_000),
        ({"kube_controller_manager_node_monitor_period_milliseconds": 30_000}, 60_000),
        (
            {
                "node_lease_duration_seconds": 0,
                "node_status_update_frequency_milliseconds": 60_000,
            },
            66_001,
        ),
    ],
)
def test_one_time_alone_is_followed_by_the_grace_period(
    given: dict[str, Any], least: int, factor: int
) -> None:
    options, beat = settled(**given, heartbeat_factor=factor)

    assert options.heartbeat.monitor_grace_period_milliseconds == least
    assert beat.monitor_grace_milliseconds == least * factor


@pytest.mark.parametrize(
    "given",
    [
        {"node_heartbeat": "real", "heartbeat_factor": 1},
        {"node_heartbeat": "real", "heartbeat_factor": 0},
        {"node_heartbeat": "off", "node_lease_duration_seconds": 0},
        {"node_lease_duration_seconds": 0},
        {"node_heartbeat": "real", "node_lease_duration_seconds": 0},
        {"kube_version": "v1.30.0"},
        {"heartbeat_factor": 1},
    ],
)
def test_times_that_agree_are_taken(given: dict[str, Any]) -> None:
    settled(**given)


def test_without_a_controller_manager_any_lease_duration_is_accepted() -> None:
    settled(node_lease_duration_seconds=600, is_monitored=False)


def test_settling_again_what_was_settled_changes_nothing() -> None:
    for kind in ("real", "stretched", "off"):
        options, _ = settled(node_heartbeat=kind)

        assert settle_heartbeat(options, frozenset(), is_fast=False) == options


def test_the_slowest_refresh_is_that_of_the_stage() -> None:
    delay = yaml.load(assets.text("stages/node-heartbeat.yaml"))["spec"]["delay"]

    assert delay["jitterDurationMilliseconds"] == SLOWEST_STATUS_MILLISECONDS
