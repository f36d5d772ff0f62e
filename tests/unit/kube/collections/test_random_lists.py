"""Lists with whatever looks like the border of two objects, in pieces of any size."""

import random
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.list_texts import custom_list, cut, metadata, pod_list

_AWKWARD = (
    '},{"metadata":{',
    '"items":[{"metadata":{',
    "]}",
    "\\",
    'a "quoted" word',
    "\u2028",
)


def _object(number: int, chance: random.Random) -> dict[str, Any]:
    """Make an object that holds, with some luck, what looks like the border of two objects."""
    inner = [{"metadata": {"name": chance.choice(_AWKWARD)}} for _ in range(chance.randrange(4))]
    return {
        "metadata": metadata(number),
        "spec": {"volumeClaimTemplates": inner, "text": chance.choice(_AWKWARD)},
        "status": chance.choice(({}, {"conditions": [{}, {}]}, {"items": [{"metadata": {}}]})),
    }


def _sizes(chance: random.Random) -> Iterator[int]:
    while True:
        yield chance.choice((1, 2, 7, 60, 500))


@pytest.mark.parametrize("seed", range(10))
def test_every_object_comes_out_as_it_went_in_wherever_the_pieces_end(seed: int) -> None:
    chance = random.Random(seed)
    objects = [_object(number, chance) for number in range(chance.randrange(1, 6))]

    found, end = cut(pod_list(objects), _sizes(chance))

    assert found == objects
    assert end.metadata.resource_version == "7"


@pytest.mark.parametrize("seed", range(10))
def test_what_a_list_says_of_itself_may_follow_its_objects(seed: int) -> None:
    chance = random.Random(seed)
    owners = [{"apiVersion": "v1", "uid": "1"}, {"apiVersion": "v1", "uid": "2"}]
    objects = [
        {
            "apiVersion": "example.com/v1",
            "kind": "Thing",
            "metadata": {**metadata(number), "ownerReferences": owners},
        }
        for number in range(3)
    ]

    found, end = cut(custom_list(objects), _sizes(chance))

    assert found == objects
    assert end.metadata.resource_version == "7"
