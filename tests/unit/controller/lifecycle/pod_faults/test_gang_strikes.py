"""What pods of a gang say of the faults of others, as an annotation."""

from typing import Any

import pytest

from kwokctl.controller.lifecycle.pod_faults.gang_strikes import (
    GANG_FAULTS,
    live_strikes,
    others,
    selector_of,
    strike_of,
    strikes_in,
    struck,
)
from kwokctl.controller.lifecycle.pod_faults.hits import WorkloadHit
from kwokctl.faults.overlays.open_entries import WorkloadEffect


def hit(key: str = "u//0", effect: str = "fail") -> WorkloadHit:
    said = WorkloadEffect(effect=effect, gang=True, after="5s")  # type: ignore[arg-type]  # a word
    return WorkloadHit(key=key, fault="f", since=100.0, effect=said)


def mate(text: str | None = None, **more: Any) -> Any:
    annotations = {"kwokctl.dev/gang": "train"} | ({} if text is None else {GANG_FAULTS: text})
    meta = {"name": "m", "uid": "m-1", "annotations": annotations, **more}
    return {"metadata": meta, "spec": {}, "status": {"phase": "Running"}}


def test_a_strike_is_read_as_it_was_written_and_strikes_nobody_else() -> None:
    strike = strike_of(hit(), "n", 105.0)
    text = struck(mate(), [strike])
    assert text is not None
    [found] = strikes_in(mate(text)["metadata"])
    assert found == strike
    assert (found.hit.since, found.hit.is_struck, found.hit.is_for_gang) == (105.0, True, False)


def test_a_pod_is_told_once() -> None:
    strike = strike_of(hit(), "n", 105.0)
    told = mate(struck(mate(), [strike]))
    assert struck(told, [strike]) is None
    assert struck(told, [strike_of(hit(), "n", 106.0)]) is not None


def test_the_last_strike_of_a_fault_counts_and_old_ones_are_forgotten() -> None:
    body = mate()
    for number in range(10):
        text = struck(body, [strike_of(hit(f"u/{number}/0"), "n", float(number))])
        body = mate(text)
    assert [each.at for each in strikes_in(body["metadata"])] == [float(each) for each in range(2, 10)]  # fmt: skip

    again = mate(struck(body, [strike_of(hit("u/5/0"), "n", 50.0)]))
    assert [each.at for each in strikes_in(again["metadata"]) if each.key == "u/5/0"] == [50.0]


@pytest.mark.parametrize(
    ("effect", "is_open", "lives"),
    [("fail", False, True), ("hang", False, False), ("hang", True, True), ("slow", False, False)],
)
def test_what_slows_lasts_as_long_as_the_fault_and_a_failure_was(
    effect: str, is_open: bool, lives: bool
) -> None:
    text = struck(mate(), [strike_of(hit(effect=effect), "n", 105.0)])
    asked: list[tuple[str, str]] = []

    def ask(node: str, key: str) -> bool:
        asked.append((node, key))
        return is_open

    assert bool([*live_strikes(mate(text)["metadata"], ask)]) is lives
    assert asked == ([] if effect == "fail" else [("n", "u//0")])


@pytest.mark.parametrize("text", ["", "[", "{}", "[1]", '[{"key": "x"}]'])
def test_an_annotation_that_is_none_says_nothing(text: str) -> None:
    assert strikes_in(mate(text)["metadata"]) == ()


def test_the_others_are_those_of_the_gang_that_have_not_ended() -> None:
    done = {**mate(uid="d"), "status": {"phase": "Failed"}}
    foreign = mate(uid="f", annotations={"kwokctl.dev/gang": "other"})
    new = {**mate(uid="n"), "status": {"phase": "Pending"}}
    pods = [mate(), done, foreign, new, mate(uid="own")]
    found = others(pods, "kwokctl.dev/gang=train", "own")
    assert [each["metadata"]["uid"] for each in found] == ["m-1", "n"]


@pytest.mark.parametrize(
    ("gang", "selector"),
    [
        ("jobsets.jobset.x-k8s.io=a", "jobset.sigs.k8s.io/jobset-name=a"),
        ("jobs.batch=u-1", "batch.kubernetes.io/controller-uid=u-1"),
        ("kwokctl.dev/gang=a=b", ""),
        ("podgroups.scheduling.k8s.io=a", ""),
    ],
)
def test_pods_of_a_gang_are_found_by_a_label_where_one_tells_them(gang: str, selector: str) -> None:
    assert selector_of(gang) == selector
