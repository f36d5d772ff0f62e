"""What checks of nodes before a training find, and when."""

from math import inf
from typing import Any

import pytest

from kwokctl.controller.lifecycle.containers.container_program import ContainerProgram
from kwokctl.controller.lifecycle.pod_faults.hits import WorkloadHit
from kwokctl.controller.lifecycle.preflight_run import GangChecks, NodeHit
from kwokctl.errors import ExpressionError
from kwokctl.faults.overlays.open_entries import WorkloadEffect
from kwokctl.training.check_times import CheckTime
from kwokctl.training.preflight import (
    PREFLIGHT,
    PREFLIGHT_TIMEOUT,
    REASON,
    expected_bandwidth,
    read_checks,
    timeout_of,
)

T = 1000.0
PROGRAM = ContainerProgram(run=30)
THERE = {"all": [CheckTime(each, inf) for each in (T, T + 5, T + 2)]}


def fault(effect: str, *, on: str = "n2", since: float = T - 60, **fields: Any) -> NodeHit:
    work = WorkloadEffect(effect=effect, **fields)  # type: ignore[arg-type]  # a word of a test
    return NodeHit(on, WorkloadHit(key="k", fault="f", since=since, effect=work))


def check(
    name: str = "all", *, now: float = T + 9, program: ContainerProgram = PROGRAM, **fields: Any
) -> tuple[float | None, int, str]:
    """Return when a check that started at T ends, with which exit code and message."""
    usual: dict[str, Any] = {"runs": THERE, "own": (), "others": (), "size": 3}
    checks = GangChecks(
        checks={"one": "loopback", "all": "all-reduce"},
        timeout=300,
        product="NVIDIA-H100-80GB-HBM3",
        **{**usual, **fields},
    )
    run = checks.run_of(name, now, None)
    assert run is not None
    found = run.program(program, T)
    if found.exit_code(0):
        assert found.reason == REASON
    return found.run, found.exit_code(0), found.message


def test_a_container_that_is_no_check_is_left_alone() -> None:
    checks = GangChecks(checks={}, timeout=1, product="", size=0, runs={}, own=(), others=())
    assert checks.run_of("other", T, None) is None


def test_without_faults_a_check_succeeds_and_says_the_bandwidth() -> None:
    assert check("one") == (30, 0, "avg bus bandwidth 460 GB/s")
    # the last pod has come 5 s later
    assert check("all") == (35, 0, "avg bus bandwidth 377.2 GB/s")


def test_a_check_of_the_own_node_knows_no_other() -> None:
    assert check("one", others=[fault("fail")])[1] == 0
    assert check("one", own=[fault("fail", on="n1")]) == (1, 1, "nccl checking failed on n1")


def test_a_check_of_all_fails_by_the_fault_of_any_node() -> None:
    assert check(others=[fault("fail")]) == (1, 1, "nccl checking failed on n2")
    both = check(own=[fault("corrupt", on="n1")], others=[fault("corrupt")])
    assert both == (35, 1, "nccl checking failed: wrong values from n1, n2")


def test_what_is_slow_fails_with_the_bandwidth_that_is_left() -> None:
    words = (
        "nccl checking failed: 2 times too slow on n2; avg bus bandwidth 188.6 GB/s, expected 377.2"
    )
    assert check(others=[fault("slow", factor=2.0)]) == (35, 1, words)


def test_what_hangs_ends_with_the_time_out() -> None:
    assert check(others=[fault("hang")]) == (300, 1, "timed out: no answer from n2")


def test_it_waits_for_the_other_pods_until_its_time_out() -> None:
    two = {"all": THERE["all"][:2]}
    assert check(runs=two)[:2] == (None, 0)
    assert check(runs=two, now=T + 300) == (300, 1, "timed out: 2 of 3 ranks were there")
    assert check(size=0)[0] is None  # the Job is not known yet


def test_it_says_so_when_another_pod_has_given_up_first() -> None:
    runs = {"all": [*THERE["all"][:2], CheckTime(T - 2, T + 298)]}
    found = check(runs=runs, now=T + 300, others=[fault("hang")])
    assert found == (300, 1, "timed out: no answer from n2")


def test_pods_that_came_one_after_the_other_were_never_together() -> None:
    gone = [CheckTime(T - 90, T), CheckTime(T - 80, T + 2), CheckTime(T + 2, T + 5)]
    runs = {"all": [CheckTime(T, inf), *gone]}
    assert check(runs=runs, now=T + 300) == (300, 1, "timed out: 2 of 3 ranks were there")


def test_a_fault_that_begins_after_the_check_is_not_found() -> None:
    assert check(others=[fault("fail", since=T + 36)])[1] == 0
    assert check(others=[fault("fail", since=T + 34)])[:2] == (34, 1)


def test_a_check_that_fails_by_its_own_words_does() -> None:
    program = ContainerProgram(run=3, exit_codes=(5,), reason=REASON)
    assert check(program=program, runs={}) == (3, 5, "")


def test_annotations_are_read() -> None:
    notes = {PREFLIGHT: "one=loopback, all=all-reduce", PREFLIGHT_TIMEOUT: "5m"}
    assert read_checks(notes, ["one", "all"]) == {"one": "loopback", "all": "all-reduce"}
    assert (timeout_of(notes), timeout_of({})) == (300, 600)
    assert expected_bandwidth("NVIDIA-GB200", "loopback") is None
    with pytest.raises(ExpressionError, match="'one=loop' is not NAME=loopback or all-reduce"):
        read_checks({PREFLIGHT: "one=loop"}, ["one"])
    with pytest.raises(ExpressionError, match="the pod has no init container 'two'"):
        read_checks({PREFLIGHT: "two=loopback"}, ["one"])
    with pytest.raises(ExpressionError, match="preflight-timeout"):
        timeout_of({PREFLIGHT_TIMEOUT: "soon"})
