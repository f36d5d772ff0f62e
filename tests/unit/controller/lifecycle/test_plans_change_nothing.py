"""Pods that live by plans live, byte for byte, as those that are looked at by themselves."""

from random import Random

import pytest

from tests.support.kubelet_recordings.cases import cases
from tests.support.living_pods import lived, random_pods, recorded_pods

_REFUSED = {"for-another-node"}
"""What no node takes is written once, without a plan."""


@pytest.mark.parametrize("name", [case.name for case in cases()])
def test_recorded_pods_live_the_same_with_plans_and_without(name: str) -> None:
    pods, deeds, seconds = recorded_pods(name, 30, Random(name))

    quick = lived(pods, deeds, seconds=seconds)
    slow = lived(pods, deeds, seconds=seconds, is_planned=False)

    assert quick.observed() == slow.observed()
    assert bool(quick.planned) == (name not in _REFUSED)
    assert not slow.planned


@pytest.mark.parametrize("seed", range(40))
def test_random_pods_live_the_same_with_plans_and_without(seed: int) -> None:
    pods, deeds = random_pods(Random(seed), 60)

    quick = lived(pods, deeds, seconds=60)
    slow = lived(pods, deeds, seconds=60, is_planned=False)

    assert quick.observed() == slow.observed()


@pytest.mark.parametrize("seed", range(10))
def test_pods_that_are_taken_over_live_the_same_with_plans_and_without(seed: int) -> None:
    pods, deeds = random_pods(Random(100 + seed), 60)

    quick = lived(pods, deeds, seconds=80, takeover=13.3)
    slow = lived(pods, deeds, seconds=80, takeover=13.3, is_planned=False)

    assert quick.observed() == slow.observed()


def test_many_writes_of_pods_are_planned() -> None:
    planned = written = 0
    for seed in range(10):
        pods, deeds = random_pods(Random(seed), 150)
        story = lived(pods, deeds, seconds=40)
        planned += story.planned
        written += story.writes - len(pods)

    assert planned > written / 4
