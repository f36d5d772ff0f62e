"""What templates of loads draw themselves follows the seed."""

import re

import pytest

from kwokctl.draws.streams import DrawStream
from kwokctl.load.acts.create import Bundles
from kwokctl.load.description.template_draws import TemplateDraws
from tests.support.load_rig import MemoryCluster, load_of, play

_ALL = """
apiVersion: v1
kind: Pod
metadata:
  annotations:
    int: "{{ randInt 0 1000000 }} {{ randInt 0 1000000 }}"
    text: '{{ randAlpha 8 }} {{ randAlphaNum 8 }} {{ randNumeric 8 }} {{ randAscii 8 | b64enc }} {{ randBytes 8 }}'
    other: '{{ shuffle "abcdefghijkl" }} {{ uuidv4 }}'
spec: {containers: [{name: a, image: x}]}
"""


def drawn(seed: int, name: str = "web", count: int = 3) -> list[dict[str, str]]:
    load = load_of({"every": "1s"}, name, count=count, create=[{"template": _ALL}])
    other = load_of({"every": "1s"}, "other", count=2, create=[{"template": _ALL}])
    _, _, cluster = play([other, load], MemoryCluster, seed=seed)
    bodies = sorted(cluster.bodies, key=lambda each: str(each["metadata"]["name"]))
    return [
        each["metadata"]["annotations"]
        for each in bodies
        if each["metadata"]["labels"]["kwokctl.dev/load"] == name
    ]


def test_a_seed_draws_the_same_again_and_another_one_does_not() -> None:
    found = drawn(seed=7)
    assert drawn(seed=7) == found
    assert all(one != other for one, other in zip(found, drawn(seed=8), strict=True))
    values = [text for each in found for text in each.values()]
    assert len(set(values)) == len(values), "each arrival draws its own"


def test_an_arrival_draws_the_same_whatever_was_drawn_before() -> None:
    load = load_of({"every": "1s"}, count=9, create=[{"template": _ALL}])
    data = {"index": 5, "name": "web-5", "params": {}}
    bundles = Bundles(load, "run", DrawStream.of(7, "web"))
    wanted = bundles.at(data)
    bundles.at({**data, "index": 2})
    assert bundles.at(data) == wanted


def test_values_have_the_forms_of_sprig_and_are_the_same_on_every_machine() -> None:
    functions = TemplateDraws(DrawStream.of(7, "web")).at(0, "here")
    numbers = [functions["randInt"](5, 8) for _ in range(60)]
    assert set(numbers) == {5, 6, 7}
    assert sorted(str(functions["shuffle"]("abc"))) == ["a", "b", "c"]
    uuid = r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
    assert re.fullmatch(uuid, str(functions["uuidv4"]()))
    assert numbers[:6] == [5, 6, 5, 5, 7, 6]


@pytest.mark.parametrize("place", ["spec.patch.patch", "spec.patch.target.name"])
def test_each_template_of_an_arrival_draws_its_own(place: str) -> None:
    draws = TemplateDraws(DrawStream.of(7, "web"))
    one = draws.at(0, place)["randAlpha"](20)
    assert draws.at(0, "other")["randAlpha"](20) != one
    assert draws.at(0, place)["randAlpha"](20) == one
