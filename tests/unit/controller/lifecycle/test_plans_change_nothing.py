"""Pods that live by plans live, byte for byte, as those that are looked at by themselves.

What each kind of decision makes of a plan, `test_life_plans` and the tests of `plans` show;
`python -m tests.support.mutants` shows that they do. Here whole lives are played by the whole controller.
"""

from random import Random

import pytest

from kwokctl.fleet.allocations import allocations_of
from tests.support.kubelet_recordings.cases import cases
from tests.support.living_pods import Deed, lived, random_pods, recorded_pods, refused

_REFUSED = {"for-another-node"}
"""What no node takes is written once, without a plan."""
_PODS = 40
"""Of up to three templates: a plan is made at the eighth pod of a kind."""


@pytest.mark.parametrize("name", [case.name for case in cases()])
def test_recorded_pods_live_the_same_with_plans_and_without(name: str) -> None:
    pods, deeds, seconds = recorded_pods(name, 16, Random(name))

    quick = lived(pods, deeds, seconds=seconds)
    slow = lived(pods, deeds, seconds=seconds, is_planned=False)

    assert quick.observed() == slow.observed()
    assert bool(quick.planned) == (name not in _REFUSED)
    assert not slow.planned


@pytest.mark.parametrize("seed", range(10))
def test_random_pods_live_the_same_with_plans_and_without(seed: int) -> None:
    pods, deeds = random_pods(Random(seed), _PODS)

    quick = lived(pods, deeds, seconds=60)
    slow = lived(pods, deeds, seconds=60, is_planned=False)

    assert quick.observed() == slow.observed()


@pytest.mark.parametrize("seed", range(3))
def test_pods_that_are_taken_over_live_the_same_with_plans_and_without(seed: int) -> None:
    pods, deeds = random_pods(Random(100 + seed), _PODS)

    quick = lived(pods, deeds, seconds=80, takeover=13.3)
    slow = lived(pods, deeds, seconds=80, takeover=13.3, is_planned=False)

    assert quick.observed() == slow.observed()


@pytest.mark.parametrize("seed", range(3))
def test_writes_that_fail_are_tried_again_the_same_with_plans_and_without(seed: int) -> None:
    random = Random(200 + seed)
    pods, deeds = random_pods(random, _PODS)
    names = [pod["metadata"]["name"] for _, pod in pods]
    deeds += [
        Deed(at=30 * random.random(), pod=random.choice(names), do=refused) for _ in range(20)
    ]

    quick = lived(pods, deeds, seconds=60)
    slow = lived(pods, deeds, seconds=60, is_planned=False)

    assert quick.observed() == slow.observed()


@pytest.mark.parametrize("takeover", [0.0, 3.3, 13.3])
def test_pods_with_devices_live_the_same_with_plans_and_without(takeover: float) -> None:
    pods, deeds, seconds = recorded_pods("crashes", 40, Random(3))
    for number, (_, pod) in enumerate(pods):
        [main] = pod["spec"]["containers"]
        asked = {"nvidia.com/gpu": str(1 + number % 2)}
        main["resources"] = {"limits": asked, "requests": asked}

    quick = lived(pods, deeds, seconds=seconds, takeover=takeover)
    slow = lived(pods, deeds, seconds=seconds, takeover=takeover, is_planned=False)

    assert quick.observed() == slow.observed()
    assert quick.planned > len(pods)
    held: dict[str, list[str]] = {}
    for _, pod in pods:
        stored = quick.pod(pod["metadata"]["name"])
        assert stored is not None
        ids = [each.device_id for each in allocations_of(stored)]
        held.setdefault(stored["spec"]["nodeName"], []).extend(ids)
        [main] = pod["spec"]["containers"]
        assert stored["status"]["phase"] == "Failed" or len(ids) == int(
            main["resources"]["limits"]["nvidia.com/gpu"]
        )
    assert all(len({*ids}) == len(ids) for ids in held.values())


def test_pods_that_are_taken_over_are_planned_again() -> None:
    pods, _, _ = recorded_pods("crashes", 100, Random(1))

    story = lived(pods, seconds=60, takeover=13.3)
    before = lived(pods, seconds=13.3)

    assert story.planned - before.planned > (story.writes - before.writes) / 2


def test_many_writes_of_pods_are_planned() -> None:
    planned = written = 0
    for seed in range(3):
        pods, deeds = random_pods(Random(seed), 150)
        story = lived(pods, deeds, seconds=40)
        planned += story.planned
        written += story.writes - len(pods)

    assert planned > written / 2
