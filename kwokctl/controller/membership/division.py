"""Decides for one member which nodes of others it may claim, and which of its own it gives away."""

from collections.abc import Collection

from kwokctl.controller.controller_context import ControllerContext
from kwokctl.controller.membership.members import Member, Members
from kwokctl.controller.membership.planning import (
    deal,
    first_claimant,
    gifts,
    is_even,
    step,
    targets,
)
from kwokctl.controller.nodes.node_registry import Hold, NodeRegistry

_REMEMBERED = 16
"""The number of members that are gone whose nodes may still be on their way to others."""


class Division:
    """The division of a fleet's nodes among its members, as one of them sees it."""

    is_shared = True

    def __init__(
        self,
        context: ControllerContext,
        nodes: NodeRegistry,
        members: Members,
        *,
        me: str,
        fleet: str,
        period: float,
    ) -> None:
        """Divide `nodes` with the members of `fleet`; give some away every `period` seconds."""
        self._context = context
        self._nodes = nodes
        self._members = members
        self._me = me
        self._fleet = fleet
        self._period = period
        self._dealt: dict[str, tuple[frozenset[str], dict[str, str]]] = {}
        """By the holder that is gone: among whom its nodes were shared out, and who claims which."""
        self._quota: list[str] = []
        self._until = 0.0
        self._step = 0
        self._sent: dict[str, tuple[Member, int]] = {}
        """The number of nodes that a member was given since its lease last showed how many it holds."""

    @property
    def held(self) -> int:
        """The number of nodes that this member holds."""
        return sum(node.hold is Hold.HELD for node in self._nodes)

    def alive(self) -> dict[str, Member]:
        """Return the members that live."""
        return self._members.alive(self._fleet, self._context.wall())

    def announces(self, holder: str) -> bool:
        """Return whether a holder is a member that lives."""
        member = self._members.get(holder)
        return member is not None and member.lives(self._context.wall())

    def free_since(self, holder: str, expires: float) -> float:
        """Do not wait for the end of a lease whose holder is leaving."""
        member = self._members.get(holder)
        return min(expires, member.left) if member is not None and member.left else expires

    def is_gone(self, holder: str) -> bool:
        """Return whether a holder was a member and is not one any more."""
        member = self._members.get(holder)
        return member is not None and not member.lives(self._context.wall())

    def deal(self, holder: str, nodes: Collection[str]) -> None:
        """Share out the nodes of a member that is gone, once as long as the members stay the same."""
        alive = self.alive()
        among = frozenset(alive)
        if self._dealt.get(holder, (None, {}))[0] != among:
            held = {name: member.held for name, member in alive.items()}
            self._dealt[holder] = (among, deal(nodes, held))
            if len(self._dealt) > _REMEMBERED:
                del self._dealt[next(iter(self._dealt))]

    def is_first(self, node: str, holder: str) -> bool:
        """Return whether the node was dealt to this member, or it comes first for a node alone."""
        _, dealt = self._dealt.get(holder, (None, {}))
        if node in dealt:
            return dealt[node] == self._me
        held = {name: m.held for name, m in self.alive().items() if name != holder}
        if not held:
            return True
        return first_claimant(node, held, targets(held, len(self._nodes))) == self._me

    def recipient(self) -> str:
        """Return the member to give the next node to, as long as there is one to be given."""
        now = self._context.delay_queue.now()
        if now >= self._until:
            self._until = now + self._period
            self._quota = self._planned()
        if not self._quota:
            return ""
        to = self._quota.pop()
        member = self._members.get(to)
        if member is None or not member.lives(self._context.wall()):
            return ""
        known, sent = self._sent.get(to, (member, 0))
        self._sent[to] = (member, sent + 1 if known is member else 1)
        return to

    def _planned(self) -> list[str]:
        """Return to whom nodes are given in this period."""
        held = {name: m.held + self._on_the_way(m) for name, m in self.alive().items()}
        if self._me not in held:
            return []
        held[self._me] = self.held
        target = targets(held, max(len(self._nodes), sum(held.values())))
        if is_even(held, target):
            self._step = 0
            return []
        self._step = max(self._step, step(held[self._me] - target[self._me]))
        return gifts(held, target, {self._me: self._step}).get(self._me, [])

    def _on_the_way(self, member: Member) -> int:
        known, sent = self._sent.get(member.identity, (None, 0))
        return sent if known is member else 0
