"""Acts on nodes, and who has done them, as a record shows them. Pure."""

from collections.abc import Iterator, Mapping

import msgspec

from kwokctl.measure.histories.history import History
from kwokctl.measure.record.fleet_lines import PodInterruption
from kwokctl.measure.record.incident_lines import CHANGE_NODE, DELETE_NODE, EVICT_POD
from kwokctl.measure.scoring.authors import Authors
from kwokctl.measure.scoring.node_timeline import NodeTimeline
from kwokctl.measure.watching.interruptions import EVICTED
from kwokctl.measure.watching.node_acts import CORDON, TAINT, UNCORDON, UNTAINT

EVICT, DELETE, REPAIR = "evict", "delete", "repair"
_ASKED = ("by-hand", "request")
"""The triggers of repairs that a user or a remediator has asked for: others follow from acts that are seen."""
UNKNOWN = "unknown"


class SeenAct(msgspec.Struct, frozen=True, gc=False):
    """An act on a node."""

    time: int
    node: str
    what: str
    """`cordon`, `uncordon`, `taint`, `untaint`, `evict`, `delete` or `repair`."""
    who: str
    """The field manager, or who has asked for the repair; `unknown` where the objects do not say."""
    user: str = ""
    """The user, by the audit log; empty where that does not say."""

    @property
    def author(self) -> str:
        """The one who has done it, in words."""
        return author_of(self.who, self.user)

    @property
    def begins(self) -> bool:
        """Whether it does something about the node, and does not take that back."""
        return self.what not in (UNCORDON, UNTAINT)


class KeptAway(msgspec.Struct, frozen=True, gc=False):
    """A time in which pods were kept away from a node, or one act without that."""

    node: str
    begin: int
    end: int | None
    """None while it goes on, and for a single act."""
    who: str
    was_seen: bool
    """Whether its beginning was seen: else it was so when the record began."""
    what: str = CORDON


def author_of(who: str, user: str) -> str:
    """Return who has done something, in words, by what objects say and by the audit log."""
    if not user:
        return who
    return f"user {user}" if who == UNKNOWN else f"{who} (user {user})"


def acts_in(history: History, nodes: Mapping[str, NodeTimeline], authors: Authors) -> list[SeenAct]:
    """Return all acts in the order of their times."""
    found = [
        *_on_nodes(history, nodes, authors),
        *_evictions(history, authors),
        *_repairs(history),
    ]
    found += (
        SeenAct(time, name, DELETE, UNKNOWN, authors.of(DELETE_NODE, time, name))
        for name, node in nodes.items()
        for time, state in node.states
        if state is None
    )
    return sorted(found, key=lambda each: each.time)


def _on_nodes(
    history: History, nodes: Mapping[str, NodeTimeline], authors: Authors
) -> Iterator[SeenAct]:
    for act in history.incidents.acts:
        name = history.fleet.nodes[act.node].name
        what, _, taint = act.act.partition(" ")
        if what in (TAINT, UNTAINT) and not nodes[name].is_barrier(taint):
            continue
        user = authors.of(CHANGE_NODE, act.time, name)
        yield SeenAct(act.time, name, what, act.manager or UNKNOWN, user)


def _evictions(history: History, authors: Authors) -> Iterator[SeenAct]:
    for each in evictions_in(history):
        pod = history.pods.get(each.number)
        if pod is None:
            user = authors.of_any(EVICT_POD, each.time)
        else:
            user = authors.of(EVICT_POD, each.time, pod.name, pod.namespace)
        yield SeenAct(each.time, history.texts[each.node], EVICT, UNKNOWN, user)


def evictions_in(history: History) -> Iterator[PodInterruption]:
    """Yield the pods that were evicted through the API, from nodes that are known."""
    for each in history.fleet.interruptions:
        if each.node and not each.restarts and EVICTED in history.texts[each.reason]:
            yield each


def _repairs(history: History) -> Iterator[SeenAct]:
    known = history.incidents
    for each in known.repairs.values():
        time = known.time_of(each.accepted)
        if each.trigger in _ASKED and time is not None:
            yield SeenAct(time, each.node, REPAIR, each.by or UNKNOWN)


def episodes_in(
    nodes: Mapping[str, NodeTimeline], acts: list[SeenAct], faulty: frozenset[str]
) -> list[KeptAway]:
    """Return what counts for precision: each time in which pods were kept away, and acts outside of such a time.

    Of several acts that follow each other without one, each first one counts. That a good node is deleted may have any reason, and counts
    only on a `faulty` one.
    """
    first: dict[tuple[str, int], SeenAct] = {}
    by_node: dict[str, list[SeenAct]] = {}
    for act in acts:
        by_node.setdefault(act.node, []).append(act)
        if act.begins:
            first.setdefault((act.node, act.time), act)
    found = []
    for name, node in nodes.items():
        kept = [*node.kept_away()]
        for begin, end, was_seen in kept:
            who = first[name, begin].who if (name, begin) in first else UNKNOWN
            found.append(KeptAway(name, begin, end, who, was_seen))
        found += _alone(name, kept, by_node.get(name, []), faulty)
    return sorted(found, key=lambda each: each.begin)


def _alone(
    name: str,
    kept: list[tuple[int, int | None, bool]],
    acts: list[SeenAct],
    faulty: frozenset[str],
) -> Iterator[KeptAway]:
    seen: set[str] = set()
    for act in acts:
        if act.what not in (EVICT, DELETE, REPAIR) or act.what in seen:
            continue
        is_inside = any(b <= act.time and (e is None or act.time <= e) for b, e, _ in kept)
        if is_inside or (act.what == DELETE and name not in faulty):
            continue
        seen.add(act.what)
        yield KeptAway(name, act.time, None, act.who, was_seen=True, what=act.what)
