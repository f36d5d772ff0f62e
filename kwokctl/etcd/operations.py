"""What is asked of etcd's key-value store, and what it answers. Values only."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KeyValue:
    """A key with what is stored at it."""

    key: bytes
    value: bytes
    create_revision: int
    mod_revision: int
    """The store's revision at which it was last written."""


@dataclass(frozen=True, slots=True)
class Compare:
    """Hold if the key was last written at this revision; 0 means that it does not exist."""

    key: bytes
    revision: int
    of_creation: bool = False
    """Compare the revision of its creation instead."""


@dataclass(frozen=True, slots=True)
class Put:
    """Write a value, whether there is one or not."""

    key: bytes
    value: bytes


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete a key if it exists."""

    key: bytes


@dataclass(frozen=True, slots=True)
class Get:
    """Read a key."""

    key: bytes


@dataclass(frozen=True, slots=True)
class Txn:
    """Do `then` if all compares hold, else `otherwise`, as one step."""

    compares: "tuple[Compare, ...]"
    then: "tuple[Operation, ...]"
    otherwise: "tuple[Operation, ...]" = ()


Operation = Put | Delete | Get | Txn


@dataclass(frozen=True, slots=True)
class TxnAnswer:
    """What a transaction did."""

    succeeded: bool
    """Whether all compares held."""
    revision: int
    """The store's revision after it: the mod revision of all that it has written."""
    answers: "tuple[Answer, ...]"
    """One for each operation that was done, in order: None for a put, the number of deleted keys,
    what was read or None, what a nested transaction did."""


Answer = None | int | KeyValue | TxnAnswer


@dataclass(frozen=True, slots=True)
class Page:
    """Keys of a range, in order."""

    items: list[KeyValue]
    more: bool
    """Whether the range holds more than the limit let through."""
    revision: int
    """The store's revision, of now: not the one that was asked for."""
    count: int
    """How many keys the range holds in all."""
