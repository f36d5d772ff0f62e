"""Finds out which workloads of a run no controller has looked at yet: their pods are still to come."""

from collections import defaultdict
from collections.abc import AsyncIterator, Iterable

import msgspec

from kwokctl.errors import ApiError
from kwokctl.kube.collections.paging import ListQuery, list_pages
from kwokctl.kube.resource import (
    DAEMON_SETS,
    DEPLOYMENTS,
    REPLICA_SETS,
    STATEFUL_SETS,
    Resource,
)
from kwokctl.kube.transport.pool import Pool
from kwokctl.load.arrival import Made
from kwokctl.load.description.bundles import RUN_LABEL

_KINDS = {
    (each.api_version, each.kind): each
    for each in (DEPLOYMENTS, REPLICA_SETS, STATEFUL_SETS, DAEMON_SETS)
}
_REFUSED = (403, 404)


class _Metadata(msgspec.Struct, gc=False):
    uid: str
    generation: int = 0


class _Status(msgspec.Struct, rename="camel", gc=False):
    observed_generation: int = 0


class _Workload(msgspec.Struct, gc=False):
    metadata: _Metadata
    status: _Status = msgspec.field(default_factory=_Status)


_decode = msgspec.json.Decoder(_Workload).decode


class Workloads:
    """The Deployments, ReplicaSets, StatefulSets and DaemonSets that a run has made."""

    def __init__(self, pool: Pool, run: str) -> None:
        """Ask the API server of `pool` for those with the label of `run`."""
        self._pool = pool
        self._run = run
        self._new: defaultdict[Resource, set[str]] = defaultdict(set)
        """The uids of those that no controller was seen to have looked at."""

    def note(self, made: Iterable[Made]) -> None:
        """Note what an arrival has made."""
        for each in made:
            if (resource := _KINDS.get((each.api_version, each.kind))) is not None:
                self._new[resource].add(each.uid)

    @property
    def new(self) -> str:
        """Those that no controller had looked at when that was asked last, in words; empty if there are none."""
        return ", ".join(
            f"{len(uids):,} {resource.kind}s at which no controller has looked"
            for resource, uids in self._new.items()
            if uids
        )

    async def look(self) -> None:
        """Ask for those of which nothing is known; of a kind that may not be listed nothing is waited for."""
        for resource, uids in self._new.items():
            if not uids:
                continue
            try:
                uids &= {each async for each in self._unseen(resource)}
            except ApiError as e:
                if e.status not in _REFUSED:
                    return
                uids.clear()

    async def _unseen(self, resource: Resource) -> AsyncIterator[str]:
        query = ListQuery(resource=resource, label_selector=f"{RUN_LABEL}={self._run}")
        async for page in list_pages(self._pool, query):
            for item in page.objects:
                found = _decode(item)
                if found.status.observed_generation < found.metadata.generation:
                    yield found.metadata.uid
