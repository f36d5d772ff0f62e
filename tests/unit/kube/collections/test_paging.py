import json
import random
from typing import Any

import pytest

from kwokctl.errors import ApiError
from kwokctl.kube.collections.paging import ListCutter, ListPage, ListQuery, list_from_cache
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.resource import PODS
from kwokctl.kube.transport.pool import Pool
from tests.support.fake_api_server import Reply, Request, serving

_AWKWARD = (
    '},{"metadata":{',
    '"items":[{"metadata":{',
    "]}",
    "\\",
    'a "quoted" word',
    "\u2028",
)


def _encoded(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _pod_list(items: list[Any] | None) -> bytes:
    """Return a list as the API server writes those of its own kinds."""
    return _encoded(
        {
            "kind": "PodList",
            "apiVersion": "v1",
            "metadata": {"resourceVersion": "7"},
            "items": items,
        }
    )


def _custom_list(items: list[Any]) -> bytes:
    """Return a list as the API server writes those of custom resources."""
    return _encoded(
        {
            "apiVersion": "example.com/v1",
            "items": items,
            "kind": "ThingList",
            "metadata": {"continue": "", "resourceVersion": "7"},
        }
    )


def _cut(text: bytes, sizes: random.Random) -> tuple[list[Any], ListPage]:
    cutter, found, at = ListCutter(), [], 0
    while at < len(text):
        size = sizes.choice((1, 2, 7, 60, 500))
        found += cutter.feed(text[at : at + size])
        at += size
    end = cutter.end()
    return [json.loads(each) for each in [*found, *map(bytes, end.objects)]], end


def _metadata(number: int) -> dict[str, Any]:
    return {"name": f"n-{number}", "uid": f"u-{number}", "resourceVersion": str(number)}


def _object(number: int, chance: random.Random) -> dict[str, Any]:
    """Make an object that holds, with some luck, what looks like the border of two objects."""
    inner = [{"metadata": {"name": chance.choice(_AWKWARD)}} for _ in range(chance.randrange(4))]
    return {
        "metadata": _metadata(number),
        "spec": {"volumeClaimTemplates": inner, "text": chance.choice(_AWKWARD)},
        "status": chance.choice(({}, {"conditions": [{}, {}]}, {"items": [{"metadata": {}}]})),
    }


@pytest.mark.parametrize("seed", range(60))
def test_every_object_comes_out_as_it_went_in_wherever_the_pieces_end(seed: int) -> None:
    chance = random.Random(seed)
    objects = [_object(number, chance) for number in range(chance.randrange(1, 6))]

    found, end = _cut(_pod_list(objects), chance)

    assert found == objects
    assert end.metadata.resource_version == "7"


@pytest.mark.parametrize("seed", range(20))
def test_what_a_list_says_of_itself_may_follow_its_objects(seed: int) -> None:
    chance = random.Random(seed)
    owners = [{"apiVersion": "v1", "uid": "1"}, {"apiVersion": "v1", "uid": "2"}]
    objects = [
        {
            "apiVersion": "example.com/v1",
            "kind": "Thing",
            "metadata": {**_metadata(number), "ownerReferences": owners},
        }
        for number in range(3)
    ]

    found, end = _cut(_custom_list(objects), chance)

    assert found == objects
    assert end.metadata.resource_version == "7"


@pytest.mark.parametrize("items", [[], None])
def test_an_empty_list_has_no_objects_but_a_version(items: list[Any] | None) -> None:
    found, end = _cut(_pod_list(items), random.Random(0))

    assert found == []
    assert end.metadata.resource_version == "7"


def test_a_list_that_ends_too_early_is_an_error() -> None:
    whole = _pod_list([{"metadata": _metadata(1)}, {"metadata": _metadata(2)}])
    for length in range(len(whole)):
        cutter = ListCutter()
        cutter.feed(whole[:length])
        with pytest.raises(ApiError, match="lost"):
            cutter.end()


async def test_it_asks_for_any_version_and_for_no_pages() -> None:
    async def handle(request: Request, reply: Reply) -> None:
        await reply.begin()
        text = _pod_list([{"metadata": _metadata(number)} for number in range(3)])
        for at in range(0, len(text), 50):
            await reply.chunk(text[at : at + 50])
        await reply.end()

    async with serving(handle) as server, Pool(Access(server=server.url)) as pool:
        pages = [page async for page in list_from_cache(pool, ListQuery(resource=PODS))]

    objects = [json.loads(bytes(each)) for page in pages for each in page.objects]
    assert [each["metadata"]["name"] for each in objects] == ["n-0", "n-1", "n-2"]
    assert pages[-1].metadata.resource_version == "7"
    assert server.requests[0].query == {"resourceVersion": "0"}
