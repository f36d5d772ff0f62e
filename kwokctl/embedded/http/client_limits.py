"""The limits for clients of our servers, the same at every port.

Every local user can dial a port, so most is bounded for strangers: clients that have not shown a credential
yet. A body is not read for them at all.
"""

import msgspec

MOST_HEADERS = 100
LONGEST_BODY = 4 * 1024 * 1024
MOST_DROPPED = 256 * 1024
"""Bytes of a body that was not asked for, until the connection is cut."""
MOST_STRANGERS = 500
"""Connections of strangers; well below what a process may have open."""
AT_A_TURN = 8
"""Requests of strangers that begin in one turn of the loop."""
MANY_STRANGERS, PAUSE = 100, 0.005
"""The number of strangers from which on they are accepted slowly, and the seconds between two: a client of
thousands of nodes opens a connection wherever none is free, and those that it has get on better than new ones."""


class ConnectionLimits(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of one connection."""

    head: int
    """Bytes of a request's head, and of what is received before it is asked for."""
    patience: float
    """Seconds to shake hands, for the next request, and to take what is left of the answers at the end."""


STRANGER = ConnectionLimits(head=16 * 1024, patience=10.0)
"""Its answer must be taken in these seconds, too."""
KNOWN = ConnectionLimits(head=512 * 1024, patience=300.0)
"""The command of `kubectl exec` is in the URL."""
