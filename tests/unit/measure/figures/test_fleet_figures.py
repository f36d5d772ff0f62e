"""Figures of the fleet, against what is computed by hand. A run of these tests takes an hour."""

from typing import Any

import pytest

from kwokctl.measure.figures.figure_catalogue import FIGURES, figures_in, whole_run
from kwokctl.measure.figures.values import Durations, Levels, Missing, SingleNumber
from kwokctl.measure.histories.history import History
from kwokctl.measure.judging.assertions import AssertionReader, judge
from kwokctl.measure.record.fleet_lines import (
    NodeChange,
    NodeGone,
    NodeSeen,
    OtherRequests,
    PodInterruption,
)
from kwokctl.measure.record.record_lines import Lines, PodShape, RecordText
from tests.support.measured import SECOND, figure, history, job, life, seen

GPU = "nvidia.com/gpu"
QUARTER, HALF = 900 * SECOND, 1800 * SECOND
NODE, ONE, TWO, EIGHT, LABELS, TAINT, FOUR, BUSY, OTHER_RACK, SMALL, OF_STATE = range(10, 21)
TEXTS = [
    RecordText(NODE, f"cpu=8,memory=16Gi,{GPU}=8,pods=110"),
    RecordText(ONE, f"cpu=1,{GPU}=1"),
    RecordText(TWO, f"{GPU}=2"),
    RecordText(EIGHT, f"{GPU}=8"),
    RecordText(LABELS, "rack=a,topology.kubernetes.io/zone=z"),
    RecordText(TAINT, "gpu=present:NoSchedule,node.kubernetes.io/not-ready:NoExecute"),
    RecordText(FOUR, f"{GPU}=4"),
    RecordText(BUSY, f"cpu=6,{GPU}=0"),
    RecordText(OTHER_RACK, "rack=b"),
    RecordText(SMALL, f"cpu=8,{GPU}=8,pods=3"),
    RecordText(OF_STATE, "node.kubernetes.io/unschedulable:NoSchedule,x:PreferNoSchedule"),
]
SHAPES = [
    PodShape(number, "Job", f"job-{number}", f"uid-of-job-{number}", 0, text.text, {})
    for number, text in zip(range(10, 21), TEXTS, strict=True)
]


def node(number: int, time: int = 0, **fields: Any) -> NodeSeen:
    usual = {"allocatable": NODE, "labels": 0, "taints": 0, "ready": True, "cordoned": False}
    return NodeSeen(time, number, f"n{number}", False, **{**usual, **fields})


def change(number: int, time: int, **fields: Any) -> NodeChange:
    usual = {"allocatable": NODE, "labels": 0, "taints": 0, "ready": True, "cordoned": False}
    return NodeChange(time, number, **{**usual, **fields})


def on(node: str, number: int, begin: int, end: int | None = None, *, size: int) -> list[Lines]:
    """Return the lines of a pod that is bound as soon as it is created."""
    times = (begin, begin, begin, *(() if end is None else (end,)))
    lines: list[Lines] = list(life(number, *times, shape=size))
    for line in lines[1:]:
        line.node = node  # type: ignore[union-attr]  # all but the first are changes of a pod
    return lines


def run(*lines: Lines, **fields: Any) -> History:
    ordered = sorted(lines, key=lambda line: getattr(line, "time", 0))
    return history([*TEXTS, *SHAPES, *ordered], **fields)


def level(name: str, found: History) -> Levels:
    value = figure(name, found)
    assert isinstance(value, Levels), value
    return value


def test_the_requested_share_is_what_pods_and_others_request_of_all_nodes() -> None:
    found = run(
        node(1),
        node(2),
        OtherRequests(0, "n1", 1, FOUR),
        OtherRequests(HALF + QUARTER, "n1", 0, 0),
        *on("n1", 1, QUARTER, HALF, size=FOUR),
        *on("n2", 2, HALF, size=FOUR),
    )

    gpus = level(f"fleet.requested.{GPU}", found)

    # of 16 GPUs: a quarter each of 4, 8, 8 and 4
    assert (gpus.mean, gpus.min, gpus.max, gpus.last) == (37.5, 25, 50, 25)
    assert level("fleet.requested.cpu", found).max == 0


def test_what_a_node_had_that_is_gone_counts_no_longer() -> None:
    found = run(
        node(1), node(2), *on("n1", 1, 0, size=FOUR), *on("n2", 2, 0, size=TWO), NodeGone(HALF, 1)
    )

    gpus = level(f"fleet.requested.{GPU}", found)

    # 6 of 16, then 2 of 8
    assert (gpus.mean, gpus.max, gpus.last) == (31.25, 37.5, 25)


def test_free_devices_are_fragments_for_the_sizes_that_cannot_use_them() -> None:
    found = run(
        node(1),
        node(2),
        *on("n1", 1, 0, size=TWO),
        *on("n2", 2, HALF, size=TWO),
        seen(3, 0, shape=EIGHT),
    )

    fragments = level(f"fleet.fragmentation.{GPU}", found)
    largest = level(f"fleet.largest_gang.{GPU}", found)

    # Two pods of 2 and one of 8. First 6 and 8 are free, of which that of 8 cannot use 6: 6 of 3 * 14.
    # Then 6 and 6 are free, of which it cannot use any: 12 of 3 * 12.
    assert fragments.min == pytest.approx(100 * 6 / 42)
    assert fragments.max == pytest.approx(100 / 3)
    assert fragments.last == pytest.approx(100 / 3)
    assert fragments.mean == pytest.approx((100 * 6 / 42 + 100 / 3) / 2)
    assert (largest.max, largest.mean, largest.last) == (1, 0.5, 0)
    assert largest.note == f"pods of {GPU}=8"
    assert largest.detail == {
        f"pods of {GPU}=2 at the end": 6,
        f"pods of {GPU}=2 at worst": 6,
        f"pods of {GPU}=8 at the end": 0,
        f"pods of {GPU}=8 at worst": 0,
    }


def test_what_another_resource_or_the_number_of_pods_keeps_from_use_is_a_fragment() -> None:
    by_cpu = run(node(1), OtherRequests(0, "n1", 1, BUSY), seen(1, 0, shape=ONE))
    by_pods = run(node(1, allocatable=SMALL), seen(1, 0, shape=ONE))

    # 2 processors are left for 8 free GPUs; and 3 pods are all that the node takes
    assert level(f"fleet.fragmentation.{GPU}", by_cpu).last == 75
    assert level(f"fleet.fragmentation.{GPU}", by_pods).last == 62.5
    assert level(f"fleet.largest_gang.{GPU}", by_pods).last == 3


def test_nothing_is_free_on_nodes_that_take_no_pods() -> None:
    found = run(
        node(1),
        change(1, QUARTER, cordoned=True),
        change(1, HALF, ready=False),
        seen(1, 0, shape=EIGHT),
        seen(2, 0, shape=ONE),
    )

    assert level(f"fleet.largest_gang.{GPU}", found).values[::90] == (1, 0, 0, 0)
    assert level(f"fleet.fragmentation.{GPU}", found).last == 0


def test_a_gang_that_fitted_for_no_time_is_not_the_smallest() -> None:
    found = run(
        node(1),
        *on("n1", 1, 0, HALF, size=EIGHT),
        *on("n1", 2, HALF, size=TWO),
    )

    detail = level(f"fleet.largest_gang.{GPU}", found).detail

    assert detail[f"pods of {GPU}=2 at worst"] == 0
    assert detail[f"pods of {GPU}=2 at the end"] == 3
    assert level(f"fleet.requested.{GPU}", found).max == 100


def test_what_no_node_has_or_no_pod_requests_is_not_measured() -> None:
    found = run(node(1), seen(1, 0))

    assert figure(f"fleet.fragmentation.{GPU}", found) == Missing(
        f"no pod of the run requests '{GPU}'"
    )
    reader = AssertionReader(FIGURES)
    judged = judge([reader.read("fleet.requested.example.com/fpga.max < 5")], whole_run(found))
    assert judged[0].why == "no node has 'example.com/fpga'"


def test_the_nodes_are_counted_by_their_states() -> None:
    found = run(
        node(1),
        node(2, ready=False, taints=OF_STATE),
        change(1, QUARTER, taints=TAINT, cordoned=True),
        change(2, HALF),
        NodeGone(HALF + QUARTER, 1),
    )

    counts = {
        name: (level(f"fleet.{name}", found).mean, level(f"fleet.{name}", found).last)
        for name in ("nodes", "not_ready", "cordoned", "tainted")
    }

    assert counts == {
        "nodes": (1.75, 1),
        "not_ready": (0.5, 0),
        "cordoned": (0.5, 0),
        "tainted": (0.5, 0),
    }


def test_pods_that_end_before_their_time_are_counted_by_reason() -> None:
    reasons = (
        "PreemptionByScheduler", "EvictionByEvictionAPI", "TerminationByKubelet Evicted", "OutOfcpu",
    )  # fmt: skip
    found = run(
        *(RecordText(30 + place, reason) for place, reason in enumerate(reasons)),
        *(PodInterruption(5, number, 0, 30 + number) for number in range(4)),
        PodInterruption(6, 0, 0, 31),
        PodInterruption(6, 0, 2, 33),
        PodInterruption(7, 1, 1, 30),
    )

    assert figure("fleet.preemptions", found) == SingleNumber(1, {"PreemptionByScheduler": 1})
    assert figure("fleet.evictions", found) == SingleNumber(
        3, {"EvictionByEvictionAPI": 2, "TerminationByKubelet Evicted": 1}
    )
    assert figure("fleet.failures", found) == SingleNumber(1, {"OutOfcpu": 1})
    assert figure("fleet.restarts", found) == SingleNumber(
        3, {"OutOfcpu": 2, "PreemptionByScheduler": 1}
    )


def test_a_job_is_spread_over_the_values_of_a_label_that_its_nodes_have() -> None:
    racks = {1: LABELS, 2: LABELS, 3: OTHER_RACK, 4: 0}
    places = {TWO: ("n1", "n2"), FOUR: ("n1", "n3", "n4"), EIGHT: ("n1", "n4"), ONE: ("n1",)}
    pods = [
        line
        for number, (size, names) in enumerate(places.items())
        for place, name in enumerate(names)
        for line in on(name, 10 * number + place, place, size=size)
    ]
    jobs = [job(number, 0, uid=f"uid-of-job-{number}", pods=2) for number in places]
    found = run(
        *(node(number, labels=labels) for number, labels in racks.items()),
        *jobs,
        *pods,
        job(30, 0),
        topology=("rack", "row"),
    )

    spread = figure("fleet.spread.rack", found)

    # Two in rack a; a and b, with a replacement that does not count; one on a node without; one not bound.
    assert isinstance(spread, Durations)
    assert (spread.count, spread.min, spread.max) == (2, 1, 2)
    assert (spread.left_out, spread.open) == (1, 1)
    assert figure("fleet.spread.row", found) == Missing(
        "no gang had all of its pods on nodes with 'row'"
    )


def test_a_gang_that_pods_name_is_spread_as_a_job_is() -> None:
    member = PodShape(30, "", "", "", 0, "", {}, "kwokctl.dev/gang=a:2")
    found = run(
        member,
        node(1, labels=LABELS),
        node(2, labels=OTHER_RACK),
        *on("n1", 1, 0, size=30),
        *on("n2", 2, 0, size=30),
        topology=("rack",),
    )

    spread = figure("fleet.spread.rack", found)

    assert isinstance(spread, Durations)
    assert (spread.count, spread.max) == (1, 2)


@pytest.mark.parametrize(
    ("missing", "names"),
    [
        ({"nodes": "refused"}, ("nodes", "requested.cpu", "spread.topology.kubernetes.io/zone")),
        ({"requests": "refused"}, ("requested.cpu", f"fragmentation.{GPU}", f"largest_gang.{GPU}")),
    ],
)
def test_what_was_not_recorded_is_not_measured(
    missing: dict[str, str], names: tuple[str, ...]
) -> None:
    found = run(node(1), seen(1, 0, shape=ONE), missing=missing)

    for name in names:
        assert figure(f"fleet.{name}", found) == Missing("refused")


def test_a_record_of_version_1_has_no_fleet() -> None:
    found = history([], version=1)
    fleet = [each.name for each in figures_in(found) if each.name.startswith("fleet.")]

    reasons = {figure(name, found) for name in fleet}

    assert reasons == {
        Missing("a record of version 1 has no nodes"),
        Missing("a record of version 1 has no interruptions"),
    }


@pytest.mark.parametrize(
    "text",
    [
        f"fleet.requested.{GPU}.mean == 12.5",
        f"fleet.fragmentation.{GPU}.max < 1%",
        f"fleet.largest_gang.{GPU}.min >= 7",
        "fleet.requested.memory.max == 0%",
        "fleet.nodes.last == 1",
    ],
)
def test_assertions_name_devices_that_are_known_only_when_nodes_were_seen(text: str) -> None:
    found = run(node(1), *on("n1", 1, 0, size=ONE))

    assert judge([AssertionReader(FIGURES).read(text)], whole_run(found))[0].passed
