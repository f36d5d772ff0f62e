"""What is played by plans is, byte for byte, what is played on each object by itself."""

from random import Random

import pytest

from kwokctl.clusters.state.cluster_stages import stages_in_force
from kwokctl.controller.stages.compiled_stage import Stage
from tests.support.options import cluster_options
from tests.support.pods_in_etcd import played, pod
from tests.support.stage_documents import random_stages, read
from tests.support.varied_stages import varied_stages


def shipped(name: str) -> tuple[Stage, ...]:
    return read(stages_in_force(cluster_options(stage=(name,)), ()).documents)


@pytest.mark.parametrize("seed", range(10))
def test_random_stages_write_the_same_with_plans_and_without(seed: int) -> None:
    random = Random(seed)
    stages = read(random_stages(random))
    pods = [pod(number, random) for number in range(60)]
    changes = [(2.5, {**each, "spec": {**each["spec"], "priority": 1}}) for each in pods[::3]]

    quick = played(stages, pods, changes)
    slow = played(stages, pods, changes, is_planned=False)

    assert quick.etcd.all_written() == slow.etcd.all_written()
    assert slow.planned == 0


@pytest.mark.parametrize("seed", range(10))
def test_varied_stages_write_the_same_with_plans_and_without(seed: int) -> None:
    random = Random(seed)
    stages = read(varied_stages(random))
    pods = [pod(number, random) for number in range(80)]

    quick = played(stages, pods)
    slow = played(stages, pods, is_planned=False)

    assert quick.etcd.all_written() == slow.etcd.all_written()


@pytest.mark.parametrize("name", ["pod-fast", "pod-general", "pod-chaos", "pod-run-to-completion"])
def test_shipped_sets_write_the_same_with_plans_and_without(name: str) -> None:
    random = Random(1)
    pods = [pod(number, random) for number in range(200)]

    quick = played(shipped(name), pods)
    slow = played(shipped(name), pods, is_planned=False)

    assert quick.etcd.all_written() == slow.etcd.all_written()
    assert quick.planned > quick.writes / 5


def test_many_writes_of_random_stages_are_planned() -> None:
    planned = written = 0
    for seed in range(20):
        random = Random(seed)
        pods = [pod(number, random) for number in range(100)]
        story = played(read(random_stages(random)), pods)
        planned += story.planned
        written += story.writes - len(pods)

    assert planned > written / 5
