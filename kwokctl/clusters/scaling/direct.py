"""What `scale` works with when it writes past the API server."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import msgspec

from kwokctl.clusters.scaling.retrying import retried
from kwokctl.controller.stages.functions import Kubelet
from kwokctl.dataplane.copies.json_stamp import CannotStampError
from kwokctl.dataplane.keys import Keys, is_readable
from kwokctl.dataplane.scale_protocol import Addresses, KubeletEndpoint, Seen, Wanted
from kwokctl.dataplane.store import Store
from kwokctl.errors import ApiError
from kwokctl.etcd.kv.kv import KeyValue
from kwokctl.kube.client import Client
from kwokctl.kube.collections.terminated_watchers import EndedWatches
from kwokctl.kube.resource import PODS, Resource
from kwokctl.kube.transport.pool import Pool


@dataclass(frozen=True, slots=True, kw_only=True)
class Direct:
    """A cluster's etcd, its controller, and its API to compare with."""

    store: Store
    keys: Keys
    client: Client
    desk: "Desk"
    ended: EndedWatches
    wall: Callable[[], float]
    """The time of day as a POSIX time stamp."""
    managed_fields: str = "auto"
    """Which copies have managed fields: with on and off all or none, with auto all but pods."""

    def has_managed_fields(self, resource: Resource) -> bool:
        """Tell whether copies of a kind record which client owns which fields."""
        return self.managed_fields == "on" or (self.managed_fields == "auto" and resource != PODS)

    async def find(
        self, resource: Resource, namespace: str | None, name: str, version: int
    ) -> "Found":
        """Look for an object that exists in etcd: others of its kind lie beside it.

        It was last written in `version`, or later. Raises CannotStampError if it is not in etcd
        where it is thought to be, or not as it is.
        """
        for key in self.keys.candidates(resource, namespace, name):
            found = await self.store.get(key)
            if found is None or found.mod_revision < version:
                continue
            if not is_readable(found.value):
                raise CannotStampError("values in etcd are encrypted")
            return Found(folder=key.removesuffix(name.encode()), stored=found)
        raise CannotStampError(f"'{name}' is not where it was expected in etcd")

    async def pods_like(self, namespace: str | None, prefix: str) -> set[str]:
        """Return the names of the pods of a namespace that begin with `prefix`."""
        key = self.keys.key(PODS, namespace, prefix)
        begin = len(key) - len(prefix.encode())
        found = await retried(partial(self.store.keys, key))
        return {each[begin:].decode() for each in found}


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """An object of a kind, found in etcd."""

    folder: bytes
    stored: KeyValue

    def key_of(self, name: str) -> bytes:
        """Return the key of another object of the kind and namespace."""
        return self.folder + name.encode()


class Desk:
    """Asks the running controller; every method raises ApiError when it does not answer."""

    def __init__(self, pool: Pool, token: Path) -> None:
        """Use the connections of `pool`, which lead to the controller's port.

        `token` is the file of the token that it asks for.
        """
        self._pool = pool
        self._token = token

    async def seen(self) -> Seen:
        """Ask how far the controller's watches have come."""
        return msgspec.json.decode(await self._ask("GET", "/seen"), type=Seen)

    async def kubelet(self) -> Kubelet:
        """Ask where the API server reaches the kubelets of fake nodes."""
        body = await self._ask("GET", "/kubelet")
        found = msgspec.json.decode(body, type=KubeletEndpoint)
        return Kubelet(name=found.name, port=found.port)

    async def addresses(
        self, nodes: Sequence[str], *, of_pods: bool
    ) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
        """Return for a pod on each of `nodes`, in their order, its addresses and its node's.

        At most `TOGETHER` can be asked for.
        Without `of_pods` only those of the nodes are asked for, and a pod has the same.
        """
        found = await self._reserve(nodes, of_pods=of_pods)
        return _in_order(nodes, found, of_pods=of_pods)

    async def _reserve(self, nodes: Sequence[str], *, of_pods: bool) -> dict[str, Addresses]:
        wanted = Counter(nodes) if of_pods else dict.fromkeys(nodes, 0)
        body = msgspec.json.encode(Wanted(nodes=dict(wanted)))
        answer = await self._ask("POST", "/pod-addresses", body)
        return msgspec.json.decode(answer, type=dict[str, Addresses])

    async def _ask(self, method: str, path: str, body: bytes = b"") -> bytes:
        # Read each time: a controller that has been started again has another.
        headers = {"Authorization": f"Bearer {_read(self._token)}"}
        response = await self._pool.request(method, path, body=body, headers=headers)
        if response.status != 200:
            text = response.body.decode(errors="replace").strip()
            raise ApiError(
                f"the controller answers {response.status}: {text}", status=response.status
            )
        return response.body


def _in_order(
    nodes: Sequence[str], found: dict[str, Addresses], *, of_pods: bool
) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    pods = {node: iter(addresses.pods) for node, addresses in found.items()}
    for node in nodes:
        hosts = tuple(found[node].hosts)
        yield (tuple(next(pods[node])) if of_pods else hosts), hosts


def _read(token: Path) -> str:
    try:
        return token.read_text(encoding="ascii").strip()
    except OSError as e:
        raise ApiError(f"'{token}' cannot be read: {e.strerror}", status=401) from e
