"""Plans the number of nodes for each member of a fleet, and the nodes that change hands. Pure.

All members compute it from the same figures, and agree without asking each other. Where their figures
differ a little, the results differ for a few nodes: a lease is only ever written by one of them.
"""

import heapq
from collections.abc import Collection, Mapping
from hashlib import blake2b
from itertools import islice
from math import ceil, inf

Held = Mapping[str, int]
"""The number of nodes that each member holds."""

TOLERANCE = 0.1
"""By how much of its target a member may be off before nodes change hands."""
PARTS = 4
"""In how many periods, at the least, a member gives away what it has too much."""


def targets(held: Held, total: int) -> dict[str, int]:
    """Return how many of all nodes each member should hold: never more than one apart.

    The larger numbers go to those that hold most, so that as few nodes as possible change hands.
    """
    least, more = divmod(total, len(held))
    ranked = sorted(held, key=lambda member: (-held[member], member))
    return {member: least + (rank < more) for rank, member in enumerate(ranked)}


def is_even(held: Held, target: Held) -> bool:
    """Return whether each member is near enough to its target."""
    return all(abs(held[m] - target[m]) <= TOLERANCE * target[m] for m in held)


def step(surplus: int) -> int:
    """Return how many nodes of its surplus a member gives away in one period."""
    return ceil(max(surplus, 0) / PARTS)


def gifts(held: Held, target: Held, steps: Held) -> dict[str, list[str]]:
    """Return to whom each member with too many nodes gives some in this period, a name for each node.

    `steps` has the members that know better than `step` how many they give away now.
    """
    surplus = {m: held[m] - target[m] for m in sorted(held) if held[m] > target[m]}
    given = {m: min(steps.get(m, step(number)), number) for m, number in surplus.items()}
    found = iter(_names(_filled(sum(given.values()), held, target)))
    return {giver: list(islice(found, number)) for giver, number in given.items()}


def deal(nodes: Collection[str], held: Held) -> dict[str, str]:
    """Return who is the first to claim each of these nodes: members with the fewest get most.

    Each gets a range of the nodes in their order, so that a figure that is a little off moves the ends
    of the ranges only.
    """
    if not held:
        return {}
    return dict(zip(sorted(nodes), _names(_filled(len(nodes), held, {})), strict=True))


def first_claimant(node: str, held: Held, target: Held) -> str:
    """Return which member is the first to claim a node; those under their target come first.

    The choice for a node stays the same while members come and go, but for theirs.
    """
    under = [member for member in held if held[member] < target[member]]
    return max(under or held, key=lambda member: _weight(member, node), default="")


def free_share(taken: Collection[int], shares: int, chance: float) -> int | None:
    """Return one of the free shares of the pod addresses, by a number from 0 to 1; None if all are taken.

    By chance, because members that begin together must not take the same one again and again.
    """
    free = [share for share in range(shares) if share not in taken]
    return free[int(chance * len(free))] if free else None


def _filled(number: int, held: Held, most: Held) -> dict[str, int]:
    """Hand a number of nodes out one by one, each to the member with the fewest."""
    levels = [(count, m) for m, count in held.items() if count < most.get(m, inf)]
    heapq.heapify(levels)
    found = dict.fromkeys(sorted(held), 0)
    for _ in range(number):
        if not levels:
            break
        count, member = levels[0]
        found[member] += 1
        if count + 1 < most.get(member, inf):
            heapq.heapreplace(levels, (count + 1, member))
        else:
            heapq.heappop(levels)
    return found


def _names(numbers: Held) -> list[str]:
    return [member for member, number in numbers.items() for _ in range(number)]


def _weight(member: str, node: str) -> bytes:
    return blake2b(f"{member}/{node}".encode(), digest_size=8).digest()
