"""The keyword arguments that methods of a cluster pass on."""

from typing import TypedDict


class SetWords(TypedDict, total=False):
    """Further keywords for a set of objects, as `kwokctl scale` has them as options."""

    name: str
    namespace: str
    params: tuple[str, ...]
    serial_length: int
    on_nodes: str
    grace_seconds: int


class ForkWords(TypedDict, total=False):
    """Further keywords for a fork."""

    new_pki: bool
    """Whether it has certificate authorities of its own."""
    runtime: str
    """That of this cluster unless given."""
    ignore_memory: bool
    """Whether to create it where this machine seems to have too little memory."""
    wait: float | None
    """Seconds that components have to become ready; None does not wait. Unless it is given, the wait ends
    when nothing more has become ready for minutes."""


class WhichWords(TypedDict, total=False):
    """The selection of objects to wait for."""

    namespace: str | None
    """`default` unless given; None for all."""
    selector: str
    count: int
    """The exact number of objects; at least one unless given."""
