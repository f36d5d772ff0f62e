import json
from collections.abc import Callable
from itertools import repeat
from typing import Any

import pytest

from kwokctl.errors import ApiError
from kwokctl.kube.collections.paging import ListCutter, ListQuery, list_from_cache
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.resource import PODS
from kwokctl.kube.transport.pool import Pool
from tests.support.fake_api_server import Reply, Request, serving
from tests.support.list_texts import custom_list, cut, metadata, pod_list


@pytest.mark.parametrize("listed", [pod_list, custom_list])
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_objects_come_out_as_they_went_in(listed: Callable[[list[Any]], bytes], size: int) -> None:
    objects = [
        {"metadata": metadata(1), "spec": {"templates": [{"metadata": {}}, {"metadata": {}}]}},
        {"metadata": metadata(2), "spec": {"text": '"items":[{"metadata":{'}},
        {"metadata": metadata(3), "items": [{"metadata": {}}, {"metadata": {}}]},
    ]

    found, end = cut(listed(objects), repeat(size))

    assert found == objects
    assert end.metadata.resource_version == "7"


def test_an_object_comes_out_once_the_next_has_begun() -> None:
    first, second, third = ({"metadata": metadata(number)} for number in (1, 2, 3))
    border = b'},{"metadata":'
    begin, middle, end = pod_list([first, second, third]).split(border)
    cutter = ListCutter()

    pieces = (begin + border, middle, border + end)
    found = [[json.loads(each) for each in cutter.feed(piece)] for piece in pieces]

    assert found == [[first], [], [second]]
    assert [json.loads(bytes(each)) for each in cutter.end().objects] == [third]


@pytest.mark.parametrize("items", [[], None])
def test_an_empty_list_has_no_objects_but_a_version(items: list[Any] | None) -> None:
    found, end = cut(pod_list(items), repeat(7))

    assert found == []
    assert end.metadata.resource_version == "7"


def test_a_list_that_ends_too_early_is_an_error() -> None:
    whole = pod_list([{"metadata": metadata(1)}, {"metadata": metadata(2)}])
    for length in range(len(whole)):
        cutter = ListCutter()
        cutter.feed(whole[:length])
        with pytest.raises(ApiError, match="lost"):
            cutter.end()


async def test_it_asks_for_any_version_and_for_no_pages() -> None:
    async def handle(request: Request, reply: Reply) -> None:
        await reply.begin()
        text = pod_list([{"metadata": metadata(number)} for number in range(3)])
        for at in range(0, len(text), 50):
            await reply.chunk(text[at : at + 50])
        await reply.end()

    async with serving(handle) as server, Pool(Access(server=server.url)) as pool:
        pages = [page async for page in list_from_cache(pool, ListQuery(resource=PODS))]

    objects = [json.loads(bytes(each)) for page in pages for each in page.objects]
    assert [each["metadata"]["name"] for each in objects] == ["n-0", "n-1", "n-2"]
    assert pages[-1].metadata.resource_version == "7"
    assert server.requests[0].query == {"resourceVersion": "0"}
