"""Random Stages, played once for all objects and by each of them by itself."""

from random import Random

import pytest

from kwokctl.expr.gotemplate.symbols import NotSymbolicError
from tests.support.stage_documents import random_stages, read
from tests.unit.controller.in_memory.test_pattern import LATER, alone, pattern, seconds
from tests.unit.controller.in_memory.test_play import OWN, kubelet, pod


def test_random_stages_are_played() -> None:
    played = []
    for seed in range(60):
        body = pod(odd="true")
        stages = read(random_stages(Random(seed)))
        played.append(kubelet(stages).play(body, OWN) is not body)

    assert 15 < sum(played) < 60


@pytest.mark.parametrize("seed", range(10))
def test_random_stages_do_the_same_with_all_or_each_is_played_by_itself(seed: int) -> None:
    stages = read(random_stages(Random(seed)))
    try:
        found = pattern(stages)
    except NotSymbolicError:
        return

    for copy in LATER:
        wanted = None if found is None else seconds(found.of(copy))
        assert wanted == seconds(alone(stages, copy))


def test_random_stages_mostly_do_the_same_with_all() -> None:
    refused = 0
    for seed in range(60):
        try:
            pattern(read(random_stages(Random(seed))))
        except NotSymbolicError:
            refused += 1

    assert refused < 20
