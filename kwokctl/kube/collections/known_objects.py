"""Remembers which objects exist: only their names, namespaces, uids and versions."""

from collections.abc import Iterator

import msgspec


class Metadata(msgspec.Struct, rename="camel", gc=False, omit_defaults=True):
    """The identity of an object, and its version."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""


class Identified(msgspec.Struct, gc=False):
    """An object of which only the identity is read."""

    metadata: Metadata


metadata_of = msgspec.json.Decoder(Identified).decode

Key = tuple[str, str]


class Known:
    """The objects that exist at one moment."""

    __slots__ = ("_uids",)

    def __init__(self) -> None:
        self._uids: dict[Key, str] = {}

    def add(self, metadata: Metadata) -> Metadata | None:
        """Note that an object exists; return the other one that had its name before, if any."""
        key = (metadata.namespace, metadata.name)
        before = self._uids.get(key)
        self._uids[key] = metadata.uid
        if before is None or before == metadata.uid:
            return None
        return Metadata(name=metadata.name, namespace=metadata.namespace, uid=before)

    def remove(self, metadata: Metadata) -> None:
        """Note that an object exists no longer."""
        self._uids.pop((metadata.namespace, metadata.name), None)

    def retain(self, keys: set[Key]) -> Iterator[Metadata]:
        """Forget, and yield, what has none of these namespaces and names."""
        for namespace, name in self._uids.keys() - keys:
            uid = self._uids.pop((namespace, name))
            yield Metadata(name=name, namespace=namespace, uid=uid)
