"""A status that is written past the API server is one that it would have taken, and stored so."""

import asyncio
import re
from collections import Counter
from random import Random
from typing import Any

import pytest

from kwokctl.dataplane.api_plane import ApiPlane
from kwokctl.dataplane.copies.first_difference import difference, spelled
from kwokctl.dataplane.port import KubeletWriter, ObjectKey, Patch
from kwokctl.errors import ApiError
from kwokctl.json_value import Json
from kwokctl.kube.client import PatchType
from kwokctl.kube.resource import NODES, PODS, Resource
from tests.support.direct import encoded
from tests.support.installed import Installed
from tests.support.planes import Reached, reached
from tests.support.random_statuses import MAKERS, status_patch

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.timeout(600, func_only=True),
]

ROUNDS = 12
"""Pairs of objects."""
TRIES = 50
"""Patches of a pair, one after the other."""
BY_API, BY_ETCD = "by-api", "by-etcd"


class Twins:
    """Two objects that are alike, of which one is patched through the API and one past it."""

    def __init__(self, ways: Reached, resource: Resource) -> None:
        self._ways = ways
        self._resource = resource
        self._namespace = "default" if resource.namespaced else None
        self._seen: dict[str, Json] = {}
        """As they were read last: no other client changes them."""
        self.counts = Counter[str]()

    async def make(self, random: Random) -> None:
        state = random.getstate()
        for name in (BY_API, BY_ETCD):
            random.setstate(state)
            body = encoded(MAKERS[self._resource](name, random))
            await self._ways.client.create(self._resource, self._namespace, body)
            await self._look(name)

    async def remove(self) -> None:
        for name in (BY_API, BY_ETCD):
            path = self._resource.path(self._namespace, name) + "?gracePeriodSeconds=0"
            await self._ways.client.call("DELETE", path)

    async def patch(self, patch_type: PatchType, document: Json) -> None:
        """Patch both, and compare what is said, and what is there then."""
        before = self._seen[BY_ETCD]["status"]
        patch = Patch(document=document, type=patch_type, subresource="status")
        api = self._ways.plane._api
        theirs = await self._verdict(api, BY_API, patch)
        ours = await self._verdict(self._ways.plane, BY_ETCD, patch)

        told = f"{patch_type} {encoded(document).decode()} on {encoded(before).decode()}"
        assert ours == theirs, f"{theirs}, {ours}: {told}"
        there, here = await self._look(BY_API), await self._look(BY_ETCD)
        place = difference(there, here, lambda *_: False)
        assert place is None, f"{spelled(place)}: {told}"
        self.counts["taken" if theirs is None else "refused"] += 1

    async def _verdict(self, plane: KubeletWriter, name: str, patch: Patch) -> str | None:
        target = ObjectKey(self._resource, self._namespace, name)
        try:
            await plane.patch(target, patch, current=self._seen[name])
        except ApiError as e:
            # A map's fields come in any order.
            return " ".join(
                sorted(re.findall(r"[\w./-]+", f"{e.status} {e}".replace(name, "twin")))
            )
        return None

    async def _look(self, name: str) -> Any:
        """Read an object, and return its status."""
        found = await self._ways.client.get(self._resource, self._namespace, name)
        self._seen[name] = found
        return _without_empty(found["status"])


def _without_empty(value: Json) -> Json:
    """Leave out lists and maps that are empty: as protocol buffers these are nothing."""
    if isinstance(value, dict):
        fields = {name: _without_empty(each) for name, each in value.items()}
        return {name: each for name, each in fields.items() if each not in ([], {}, None)}
    return [_without_empty(each) for each in value] if isinstance(value, list) else value


class Counting(ApiPlane):
    """Counts the patches that go through the API."""

    def __init__(self, api: ApiPlane) -> None:
        super().__init__(api.pool)
        self.count = 0

    async def patch(self, target: ObjectKey, patch: Patch, *, current: Json = None) -> Json:
        self.count += 1
        return await super().patch(target, patch, current=current)


@pytest.mark.parametrize("resource", [NODES, PODS], ids=lambda each: each.kind)
def test_random_statuses_are_refused_or_stored_as_the_api_server_does_it(
    storage: Installed, resource: Resource
) -> None:
    async def compare() -> tuple[Counter[str], int]:
        random = Random(f"statuses of {resource.kind}")
        async with reached(storage) as ways:
            twins = Twins(ways, resource)
            counting = ways.plane._api = Counting(ways.plane._api)
            for _ in range(ROUNDS):
                await twins.make(random)
                try:
                    for _ in range(TRIES):
                        await twins.patch(*status_patch(resource, random))
                finally:
                    await twins.remove()
            return twins.counts, counting.count

    counts, through_api = asyncio.run(compare())

    tries = ROUNDS * TRIES
    assert counts["refused"] > tries / 20
    assert counts["taken"] > tries / 2
    # Each is sent for the one of the twins; what is certain of the other goes past the API server.
    assert through_api - tries < counts["refused"] + counts["taken"] / 2
