"""Defines the requests and answers of etcd's key-value service. Values only.

They are Structs because several are made for every write, at a third of what dataclasses cost.
"""

import msgspec


class KeyValue(msgspec.Struct, frozen=True, gc=False):
    """A key with what is stored at it."""

    key: bytes
    value: bytes
    mod_revision: int
    """The store's revision at which it was last written."""
    lease: int = 0
    """With which it expires; 0 if it does not."""


class Compare(msgspec.Struct, frozen=True, gc=False):
    """Hold if the key was last written at this revision; 0 means that it does not exist."""

    key: bytes
    revision: int
    of_creation: bool = False
    """Compare the revision of its creation instead."""


class Put(msgspec.Struct, frozen=True, gc=False):
    """Write a value, whether there is one or not."""

    key: bytes
    value: bytes
    lease: int = 0
    """With which it expires; 0 if it does not."""


class Delete(msgspec.Struct, frozen=True, gc=False):
    """Delete a key if it exists."""

    key: bytes


class Get(msgspec.Struct, frozen=True, gc=False):
    """Read a key."""

    key: bytes


class Txn(msgspec.Struct, frozen=True, gc=False):
    """Do `then` if all compares hold, else `otherwise`, as one step."""

    compares: "tuple[Compare, ...]"
    then: "tuple[Operation, ...]"
    otherwise: "tuple[Operation, ...]" = ()


Operation = Put | Delete | Get | Txn


class TxnAnswer(msgspec.Struct, frozen=True, gc=False):
    """The result of a transaction."""

    succeeded: bool
    """Whether all compares held."""
    revision: int
    """The store's revision after it: the mod revision of all that it has written."""
    answers: "tuple[Answer, ...]"
    """One for each operation that was done, in order: None for a put, the number of deleted keys,
    what was read or None, what a nested transaction did."""


class KeyChange(msgspec.Struct, frozen=True, gc=False):
    """A key that was written or deleted."""

    item: KeyValue
    """As it is now; without a value if it was deleted."""
    is_deleted: bool


class WatchAnswer(msgspec.Struct, frozen=True, gc=False):
    """One answer of a watch."""

    revision: int
    """The store's."""
    changes: list[KeyChange]
    compacted: int = 0
    """The revision up to which all was compacted, if the watch wants an earlier one."""
    refusal: str | None = None
    """Why the watch ends; None if it goes on."""


Answer = None | int | KeyValue | TxnAnswer


class KeyPage(msgspec.Struct, frozen=True, gc=False):
    """Keys of a range, in order."""

    items: list[KeyValue]
    more: bool
    """Whether the range holds more than the limit let through."""
    revision: int
    """The store's revision, of now: not the one that was requested."""
