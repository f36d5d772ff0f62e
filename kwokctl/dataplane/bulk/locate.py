"""Finds the objects of a kind in etcd, and holds the connections that bulk writes use."""

from collections.abc import Callable

import msgspec

from kwokctl.dataplane.bulk.api_bulk import ApiBulk
from kwokctl.dataplane.etcd_keys import Keys, is_readable
from kwokctl.dataplane.object_store import ObjectStore
from kwokctl.dataplane.scale_protocol import ControllerClient
from kwokctl.errors import CannotStampError
from kwokctl.etcd.kv.kv import KeyValue
from kwokctl.kube.client import Client
from kwokctl.kube.resource import Resource


class BulkAccess(msgspec.Struct, frozen=True, kw_only=True):
    """A cluster's etcd, its API to compare with, and its controller."""

    store: ObjectStore
    keys: Keys
    client: Client
    api: ApiBulk
    """Creates and deletes the objects that must not be written past the API server."""
    controller: ControllerClient | None
    wall: Callable[[], float]
    """Returns the time of day as a POSIX time stamp."""
    is_left: Callable[[Resource], bool]
    """Whether objects of a kind have to be written through the API now."""


class Located(msgspec.Struct, frozen=True, kw_only=True):
    """An object of a kind, found in etcd."""

    folder: bytes
    """The prefix of all keys of the kind and namespace.

    It is taken from this object's key, not computed: an API group under `k8s.io` may be built in or
    one of custom resources, the keys differ, and only an existing object shows which it is.
    """
    stored: KeyValue

    def key_of(self, name: str) -> bytes:
        """Return the key of another object of the kind and namespace."""
        return self.folder + name.encode()


async def locate(
    access: BulkAccess, resource: Resource, namespace: str | None, name: str, version: int
) -> Located:
    """Find an existing object in etcd: other objects of its kind have the same prefix.

    It was last written in `version`, or later. Raises CannotStampError if it is not at its
    expected key in etcd, or is encrypted there.
    """
    for key in access.keys.candidates(resource, namespace, name):
        found = await access.store.get(key)
        if found is None or found.mod_revision < version:
            continue
        if not is_readable(found.value):
            raise CannotStampError("values in etcd are encrypted")
        return Located(folder=key.removesuffix(name.encode()), stored=found)
    raise CannotStampError(f"'{name}' is not where it was expected in etcd")
