"""Computes when a kubelet that is late is heard: for a moment, once in the time between two renewals of its Lease. Pure."""

from collections.abc import Sequence
from typing import NamedTuple

from kwokctl.faults.overlays.open_entries import OpenEntry

HEARD = 5.0
"""Seconds in which it is heard: it renews its Lease, and posts what has changed on its node and pods."""


class Lateness(NamedTuple):
    """The state of a late kubelet at a time."""

    is_silent: bool
    wait: float
    """Seconds until it is heard, or silent, again."""


def lateness(entries: Sequence[OpenEntry], now: float) -> Lateness | None:
    """Return the state of the kubelet of a node that shows these faults; None if none of them makes it late.

    `now` is in seconds on the clock of faults. Of several such faults the slowest one counts. One that renews its Lease at
    least as often as every `HEARD` seconds is not late.
    """
    late = [each for each in entries if each.kubelet == "late" and each.renews_every > HEARD]
    if not late:
        return None
    slowest = max(late, key=lambda each: (each.renews_every, each.key[0]))
    into = (now - slowest.since) % slowest.renews_every
    is_silent = into < slowest.renews_every - HEARD
    ends = slowest.renews_every - HEARD if is_silent else slowest.renews_every
    return Lateness(is_silent, ends - into)
