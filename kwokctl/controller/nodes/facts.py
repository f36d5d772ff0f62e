"""What a node says of itself that decides which pods it takes."""

import msgspec


class NodeFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Kept as JSON: there may be a hundred thousand nodes, and few pods ask."""

    labels: bytes = b"{}"
    allocatable: bytes = b"{}"
    pressure: str = ""
    """The annotation that says what it is short of."""
    conditions: tuple[str, ...] = ()
    """The types of its conditions that are True."""


NO_FACTS = NodeFacts()
