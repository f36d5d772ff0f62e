"""The members of fleets, as their leases show them."""

import re
from collections.abc import Iterator

import msgspec

from kwokctl.controller.leases.holder import LABEL, MEMBER
from kwokctl.dataplane.leases.decode import StoredLease

FLEET = "kwokctl.dev/fleet"
"""Members that manage the same nodes share them."""
NODES = "kwokctl.dev/nodes"
"""The annotation with the number of nodes that a member holds."""
SHARE = "kwokctl.dev/pod-addresses"
"""The annotation with the share of the pod addresses that a member hands out."""
LEAVING = "kwokctl.dev/leaving"
"""A member that leaves does not write to its nodes any more: others may claim them at once."""

_NAME = "kwokctl-member-"
_NOT_IN_NAMES = re.compile(r"[^a-z0-9.-]")


def lease_name(identity: str) -> str:
    """Return the name of a member's lease."""
    return _NAME + _NOT_IN_NAMES.sub("-", identity.lower())


class Member(msgspec.Struct, frozen=True, kw_only=True):
    """A controller as its own lease describes it."""

    identity: str
    lease: str
    uid: str
    fleet: str
    held: int
    share: int
    expires: float
    """The time at which its lease ends unless it is renewed, as a POSIX time stamp."""
    left: float
    """Since when it is leaving; 0 if it is not."""

    def lives(self, now: float) -> bool:
        """Return whether it holds and renews leases."""
        return not self.left and self.expires > now


def read_member(lease: StoredLease, now: float) -> Member | None:
    """Read the lease of a member as it was seen at `now`; None for another lease.

    It ends no later than if it was renewed just now: the clock of the member may be ahead.
    """
    found = lease.annotations or {}
    if (lease.labels or {}).get(LABEL) != MEMBER or not lease.holder:
        return None
    return Member(
        identity=lease.holder,
        lease=lease.name,
        uid=lease.uid,
        fleet=found.get(FLEET, ""),
        held=_number(found.get(NODES), 0),
        share=_number(found.get(SHARE), -1),
        expires=min(lease.expires(), now + lease.duration),
        left=lease.renewed if LEAVING in found else 0.0,
    )


def _number(text: str | None, other: int) -> int:
    return int(text) if text and text.isdecimal() else other


class Members:
    """All controllers with a lease of their own, also those that are gone."""

    def __init__(self) -> None:
        """Begin with none."""
        self._by_lease: dict[str, Member] = {}
        self._by_name: dict[str, Member] = {}

    def __iter__(self) -> Iterator[Member]:
        return iter(self._by_name.values())

    def get(self, identity: str) -> Member | None:
        """Return a member, or None."""
        return self._by_name.get(identity)

    def note(self, member: Member) -> None:
        """Note a member as it is now."""
        self._by_lease[member.lease] = self._by_name[member.identity] = member

    def drop(self, lease: str) -> None:
        """Forget the member of a lease that does not exist any more."""
        member = self._by_lease.pop(lease, None)
        if member is not None:
            self._by_name.pop(member.identity, None)

    def alive(self, fleet: str, now: float) -> dict[str, Member]:
        """Return the members of a fleet that live, by their names."""
        return {m.identity: m for m in self if m.fleet == fleet and m.lives(now)}

    def shares(self, now: float, *, but: str) -> set[int]:
        """Return which shares of the pod addresses others than `but` have, of all fleets."""
        return {m.share for m in self if m.lives(now) and m.identity != but}
