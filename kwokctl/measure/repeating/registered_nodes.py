"""Waits for the Events of a new kube-controller-manager, one for each node.

It writes them when it has read all nodes. Where there are thousands it drops some.
"""

import asyncio

from kwokctl.clusters.time_travel.reach import Reach

_REASON = b"RegisteredNode"
_EVERY = 0.2
_NEXT = 5.0
"""Seconds after one of these Events in which the next comes."""
_FIRST = 30.0
"""Seconds in which the first one comes."""


async def until_registered(reach: Reach, since: int) -> bool:
    """Wait until each node has an Event that is later than a revision, or until no more come; return whether any came."""
    nodes, seen = await _nodes(reach), set[str]()
    now = asyncio.get_running_loop().time
    until = now() + _FIRST
    while not seen >= nodes and now() < until:
        written = await reach.kv.written(*reach.scope.events, since=since + 1)
        since = max((each.mod_revision for each in written), default=since)
        found = {_node(reach, each.key) for each in written if _REASON in each.value}
        if found - seen:
            seen |= found
            until = now() + _NEXT
        await asyncio.sleep(_EVERY)
    return bool(seen)


async def _nodes(reach: Reach) -> set[str]:
    page = await reach.kv.page(*reach.scope.nodes, keys_only=True)
    return {reach.scope.words(each.key)[-1] for each in page.items}


def _node(reach: Reach, event: bytes) -> str:
    """Return the node of an Event, whose name is that of its object, a dot and a time."""
    return reach.scope.words(event)[-1].rpartition(".")[0]
