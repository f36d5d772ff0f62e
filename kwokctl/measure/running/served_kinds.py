"""Finds out which of kwokctl's own kinds a cluster serves, and whether they may be listed.

The first Fault that is injected brings the kind, and the first Repair or FaultSchedule theirs: most clusters serve none of them.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence

from kwokctl.errors import ApiError
from kwokctl.kube.collections.paging import ListQuery, one_page
from kwokctl.kube.resource import FAULTS, Resource
from kwokctl.kube.transport.pool import Pool
from kwokctl.measure.watching.recorder import Followed

_NOT_SERVED, _REFUSED = 404, 403
_EVERY = 1.0
"""Seconds between two looks."""


async def why_not_watched(pool: Pool, resource: Resource) -> str | None:
    """Return why a kind cannot be watched: empty if the cluster has no such kind, None if it can."""
    try:
        await one_page(pool, ListQuery(resource=resource).path(limit="1"))
    except ApiError as e:
        if e.status == _NOT_SERVED:
            return ""
        if e.status != _REFUSED:
            raise
        return f"the API server refused to list {resource.plural}"
    return None


async def once_served(pool: Pool, kinds: Sequence[Followed]) -> AsyncIterator[Followed]:
    """Yield kinds as soon as the cluster serves them and they may be listed; those that may not be are left out.

    Other kinds come with Faults or after them: until there are Faults, one request a second is all that this costs.
    """
    left = sorted(kinds, key=lambda each: each.resource != FAULTS)
    while left:
        for each in [*left]:
            try:
                why = await why_not_watched(pool, each.resource)
            except ApiError:  # the API server does not answer: the run goes on, and so does this
                why = ""
            if why != "":
                left.remove(each)
            if why is None:
                yield each
            elif each.resource == FAULTS:
                break
        if left:
            await asyncio.sleep(_EVERY)
