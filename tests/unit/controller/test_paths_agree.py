"""Pods end alike whichever way they are written: by the API server, to etcd, or played by `scale`."""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import sqrt
from random import Random
from typing import Any

import pytest

from kwokctl.controller.stages.compiled_stage import Stage
from tests.support.pods_in_etcd import Path, Story, played, pod
from tests.support.stage_documents import Body, random_stages, read, stage
from tests.support.varied_stages import varied_stages

PATHS: tuple[Path, ...] = ("api", "etcd", "scale")
EVENT = {"event": {"type": "Normal", "reason": "R", "message": "m"}}
_OF_THOUSAND = 3.3
"""Standard deviations that one of a thousand differences between two counts exceeds."""
_FURTHEST = 1.95
"""The bound of Kolmogorov and Smirnov that one of a thousand distances exceeds."""


def played_by_all_paths(stages: Sequence[Stage], pods: Sequence[Any]) -> Sequence[Story]:
    return [played(stages, pods, path=path, seed=seed) for seed, path in enumerate(PATHS)]


def comparable(value: Any) -> Any:
    """Return a value without times, addresses, and texts that may be a time or a version."""
    if isinstance(value, dict):
        return {
            name: "an IP address" if name in {"podIP", "ip"} else comparable(each)
            for name, each in value.items()
            if not name.endswith(("Time", "startedAt", "finishedAt"))
        }
    if isinstance(value, list):
        return [comparable(each) for each in value]
    return "digits" if isinstance(value, str) and value.isdecimal() else value


def ends(story: Story, pods: Sequence[Any]) -> Mapping[str, Any]:
    """Return the pods as they are at last, by their names."""
    names = [each["metadata"]["name"] for each in pods]
    return {name: comparable(story.pod(name)) for name in names}


def events(story: Story) -> Counter[tuple[str, ...]]:
    return Counter(
        (event["involvedObject"]["name"], event["type"], event["reason"], event["message"])
        for event in story.events()
    )


def waited_for(story: Story) -> Counter[str]:
    """Count the waits for each Stage."""
    return Counter(name for name, _ in story.delays.waits)


def one_for_each_phase(bodies: Iterable[Body]) -> Sequence[Body]:
    """Return the last Stage for each phase: nothing is left to chance but how long it waits."""
    found = {
        body["spec"]["selector"]["matchExpressions"][-1]["jq"]["values"][0]: body for body in bodies
    }
    return list(found.values())


@pytest.mark.parametrize("make", [random_stages, varied_stages])
@pytest.mark.parametrize("seed", range(10))
def test_all_paths_lead_a_pod_to_the_same_end_with_the_same_events(
    make: Callable[[Random], Sequence[Body]], seed: int
) -> None:
    random = Random(seed)
    stages = read(one_for_each_phase(make(random)))
    pods = [pod(number, random) for number in range(30)]

    api, etcd, scale = played_by_all_paths(stages, pods)

    assert ends(etcd, pods) == ends(api, pods)
    assert ends(scale, pods) == ends(api, pods)
    assert events(api) == events(etcd) == events(scale)
    assert waited_for(api) == waited_for(etcd) == waited_for(scale)


def by_chance() -> Sequence[Body]:
    """Return Stages of which several match a pod, at once and after random delays."""
    late = {"durationMilliseconds": 1000, "jitterDurationMilliseconds": 9000}
    return [
        stage("a", weight=1, template="{phase: Running, reason: a}"),
        stage("b", weight=3, template="{phase: Running, reason: b}"),
        stage("c", phase="Running", weight=1, delay=late, template="phase: Succeeded"),
        stage("d", phase="Running", weight=2, delay=late, steps=[EVENT], template="phase: Failed"),
        stage(
            "e",
            phase="Failed",
            delay={"jitterDurationMilliseconds": 900},
            template="phase: Unknown",
        ),
    ]


def outcomes(story: Story, pods: Sequence[Any]) -> Counter[str]:
    """Count how pods have ended, the Events by their reasons, and the waits by their Stages."""
    statuses = [(story.pod(each["metadata"]["name"]) or {})["status"] for each in pods]
    return Counter(
        [
            *(f"phase {status['phase']}" for status in statuses),
            *(f"reason {status.get('reason')}" for status in statuses),
            *(f"event {event['reason']}" for event in story.events()),
        ]
    ) + waited_for(story)


def waits(story: Story) -> Mapping[str, Sequence[float]]:
    """Return how long pods have waited for each Stage."""
    found: dict[str, list[float]] = defaultdict(list)
    for name, seconds in story.delays.waits:
        found[name].append(seconds)
    return found


def distance(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the largest difference between two distributions (Kolmogorov and Smirnov)."""
    first, second = sorted(one), sorted(other)
    return max(
        abs(bisect_right(first, limit) / len(first) - bisect_right(second, limit) / len(second))
        for limit in {*one, *other}
    )


@pytest.mark.parametrize("make", [by_chance, lambda: varied_stages(Random(26))])
def test_chance_has_the_same_distribution_on_all_paths(make: Callable[[], Sequence[Body]]) -> None:
    random = Random(1)
    pods = [pod(number, random) for number in range(300)]

    api, *others = played_by_all_paths(read(make()), pods)

    expected, slow = outcomes(api, pods), waits(api)
    assert len(expected) > 3
    for story in others:
        found, quick = outcomes(story, pods), waits(story)
        for name in expected | found:
            number, again = expected[name], found[name]
            assert abs(number - again) <= _OF_THOUSAND * sqrt(number + again), name
        assert slow.keys() == quick.keys()
        for name in slow:
            one, other = slow[name], quick[name]
            bound = _FURTHEST * sqrt((len(one) + len(other)) / (len(one) * len(other)))
            assert distance(one, other) <= bound, name
