"""Waits until the nodes that a fault has hit are as a test expects, by watches of nodes and pods."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import aclosing

import msgspec

from kwokctl.clusters.faults.reaching import FaultCluster, fault_cluster
from kwokctl.clusters.state.home import Home
from kwokctl.errors import TimedOutError
from kwokctl.json_value import Json
from kwokctl.kube.collections.watch import Event, EventType, watch
from kwokctl.kube.resource import NODES, PODS
from kwokctl.model import ClusterName
from kwokctl.tasks import beside
from kwokctl.waits import after, bounded

_NAMED = 5
"""Nodes that are named of those that are not as expected."""
_SHORTEST_WAIT = 0.001
"""Seconds: 0 would be no bound."""
_decode = msgspec.json.Decoder(dict[str, Json]).decode
_Body = Mapping[str, Json]


class ObservedNode(msgspec.Struct, frozen=True, kw_only=True):
    """A node that a fault has hit, as it is now."""

    name: str
    node: _Body | None
    """Its JSON; None if it does not exist any more, also if another node has its name."""
    pods: tuple[_Body, ...] = ()
    """The JSON of the pods on it; none if the expectation does not ask for them."""


class NodeExpectation(msgspec.Struct, frozen=True, kw_only=True):
    """The state that each node is expected to have."""

    words: str
    """Such as `cordoned`."""
    holds: Callable[[ObservedNode], bool]
    shows: Callable[[ObservedNode], str]
    """Returns the words for the state that a node has in its place, for an error."""
    sees_pods: bool = False


async def wait_for_nodes(
    home: Home,
    name: ClusterName,
    uids: Mapping[str, str],
    expected: NodeExpectation,
    seconds: float,
) -> None:
    """Wait until all of some nodes are as expected at the same time; `uids` has their names by uid.

    Raises TimedOutError, which says which nodes are not after `seconds`, and what they show.
    """
    async with fault_cluster(home, name) as cluster:
        view = _View(uids, expected)
        follow = [_follow_nodes(cluster, view)]
        if expected.sees_pods:
            follow.append(_follow_pods(cluster, view))
        try:
            async with bounded(max(seconds, _SHORTEST_WAIT)), beside(*follow):
                await view.done.wait()
        except TimeoutError:
            raise TimedOutError(
                f"{after(seconds)} {view.lack()}",
                hint="allow more time, or see what reacts to the fault and what it logs",
            ) from None


async def _follow_nodes(cluster: FaultCluster, view: "_View") -> None:
    batches = watch(cluster.client.pool, NODES, decoder=_decode)
    async with aclosing(batches):
        async for events in batches:
            view.note_nodes(events)


async def _follow_pods(cluster: FaultCluster, view: "_View") -> None:
    batches = watch(cluster.client.pool, PODS, decoder=_decode, field_selector="spec.nodeName!=")
    async with aclosing(batches):
        async for events in batches:
            view.note_pods(events)


class _View:
    """The nodes and their pods as the watches have shown them so far."""

    def __init__(self, uids: Mapping[str, str], expected: NodeExpectation) -> None:
        self.done = asyncio.Event()
        """Is set once all are as expected."""
        self._uids, self._expected = uids, expected
        self._by_name = {name: uid for uid, name in uids.items()}
        self._nodes: dict[str, _Body] = {}
        self._pods: dict[str, dict[str, _Body]] = {}
        """By the name of the node, and by their uids."""
        self._has_nodes = False
        self._has_pods = not expected.sees_pods
        self._late = {*uids}

    def note_nodes(self, events: list[Event[dict[str, Json]]]) -> None:
        """Take in what a watch of nodes has said."""
        changed: set[str] = set()
        for event in events:
            if event.object is None:
                self._has_nodes = True
                changed.update(self._uids)
                continue
            uid = event.object["metadata"].get("uid", "")
            if uid in self._uids:
                changed.add(uid)
                if event.type is EventType.DELETED:
                    self._nodes.pop(uid, None)
                else:
                    self._nodes[uid] = event.object
        self._look_at(changed)

    def note_pods(self, events: list[Event[dict[str, Json]]]) -> None:
        """Take in what a watch of pods has said."""
        changed: set[str] = set()
        for event in events:
            if event.object is None:
                self._has_pods = True
                changed.update(self._uids)
                continue
            meta, node = event.object["metadata"], self._node_of(event.object)
            if node not in self._by_name:
                continue
            changed.add(self._by_name[node])
            if event.type is EventType.DELETED:
                self._pods.get(node, {}).pop(meta.get("uid", ""), None)
            else:
                self._pods.setdefault(node, {})[meta["uid"]] = event.object
        self._look_at(changed)

    def _node_of(self, pod: _Body) -> str:
        """Return the name of a pod's node; that of a deletion that was not watched says only the uid."""
        if name := (pod.get("spec") or {}).get("nodeName"):
            return str(name)
        uid = pod["metadata"].get("uid", "")
        return next((node for node, pods in self._pods.items() if uid in pods), "")

    def _look_at(self, uids: set[str]) -> None:
        if not (self._has_nodes and self._has_pods):
            return
        for uid in uids:
            if self._expected.holds(self._hit(uid)):
                self._late.discard(uid)
            else:
                self._late.add(uid)
        if not self._late:
            self.done.set()

    def _hit(self, uid: str) -> ObservedNode:
        name = self._uids[uid]
        pods = tuple(self._pods.get(name, {}).values())
        return ObservedNode(name=name, node=self._nodes.get(uid), pods=pods)

    def lack(self) -> str:
        """Say which nodes are not as expected."""
        if not (self._has_nodes and self._has_pods):
            return "the API server has not listed nodes and pods"
        many = f"{len(self._late)} of {len(self._uids)} nodes"
        shown = "; ".join(self._named())
        return (
            f"{many} that the fault has hit are not as expected ({self._expected.words}): {shown}"
        )

    def _named(self) -> Iterator[str]:
        late = sorted(self._late, key=lambda uid: self._uids[uid])
        for uid in late[:_NAMED]:
            yield f"{self._uids[uid]} ({self._expected.shows(self._hit(uid))})"
        if len(late) > _NAMED:
            yield f"and {len(late) - _NAMED} more"
