"""Removes what loads have made, by its labels."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import msgspec

from kwokctl.clusters.objects.metadata import KnownMetadata, known_objects
from kwokctl.clusters.state.home import Home
from kwokctl.errors import ApiError
from kwokctl.kube.client import Client
from kwokctl.kube.collections.paging import ListQuery
from kwokctl.kube.resource import Resource
from kwokctl.kube.served_kinds import served_kinds
from kwokctl.kube.transport.pool import Pool
from kwokctl.load.client.sender import in_background
from kwokctl.load.description.bundles import LOAD_LABEL, RUN_LABEL
from kwokctl.load.target import target_of
from kwokctl.model import ClusterName
from kwokctl.progress import Progress
from kwokctl.tasks import for_each

_KINDS_AT_ONCE, _AT_ONCE = 8, 32
_AWAY = frozenset({403, 404, 405, 503})
"""Kinds that may not be listed, are gone meanwhile, or whose own server is away."""
_GONE = ("NotFound", "Conflict")
"""The reasons of a refusal to delete what is gone; with the second, another object has its name."""


class ClearRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The request to remove what loads have made: all of it, or that of one load or run."""

    load: str = ""
    run: str = ""
    kubeconfig: Path | None = None

    @property
    def selector(self) -> str:
        """The labels of what is removed."""
        words = (
            f"{LOAD_LABEL}={self.load}" if self.load else LOAD_LABEL,
            f"{RUN_LABEL}={self.run}" if self.run else "",
        )
        return ",".join(filter(None, words))


class Cleared(msgspec.Struct, frozen=True, kw_only=True):
    """The number of objects of each kind that were deleted, without those that go with their owners."""

    objects: Mapping[str, int]


async def clear_loads(
    home: Home, name: ClusterName, request: ClearRequest, *, only_look: bool = False
) -> Cleared:
    """Delete every object with the labels, of any kind; what it owns goes with it, in the background.

    With `only_look` nothing is deleted.
    """
    target = await target_of(home, name, request.kubeconfig)
    async with Pool(target.access) as pool:
        clearing = _Clearing(Client(pool), request.selector, only_look=only_look)
        return await clearing.run(home.progress)


class _Clearing:
    def __init__(self, client: Client, selector: str, *, only_look: bool) -> None:
        self._client, self._selector, self._only_look = client, selector, only_look
        self._found: list[tuple[Resource, KnownMetadata]] = []

    async def run(self, progress: Progress) -> Cleared:
        kinds = (await served_kinds(self._client)).with_verbs("list", "delete")
        with progress.step("Looking for objects of loads"):
            await for_each(kinds, self._look, at_once=_KINDS_AT_ONCE)
        if not self._only_look:
            with progress.step("Deleting", total=len(self._found), unit="objects") as step:

                async def delete(each: tuple[Resource, KnownMetadata]) -> None:
                    await self._delete(*each)
                    step.advance()

                await for_each(self._found, delete, at_once=_AT_ONCE)
        return Cleared(objects=Counter(resource.plural for resource, _ in self._found))

    async def _look(self, resource: Resource) -> None:
        query = ListQuery(resource=resource, label_selector=self._selector)
        try:
            async for each in known_objects(self._client.pool, query):
                if not each.owners and each.deleted is None:
                    self._found.append((resource, each))
        except ApiError as e:
            if e.status not in _AWAY:
                raise

    async def _delete(self, resource: Resource, one: KnownMetadata) -> None:
        try:
            path = resource.path(one.namespace or None, one.name)
            await self._client.call("DELETE", path, in_background(one.uid))
        except ApiError as e:
            if e.reason not in _GONE:
                raise
