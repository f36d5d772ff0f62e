"""Lets a new cluster begin with what a snapshot file holds."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from kwokctl.clusters.forking.content import ForkedData, forget_events
from kwokctl.clusters.forking.mend import Corrections, mend, registered, wait_served
from kwokctl.clusters.programs.needed import programs
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.saved import Saved
from kwokctl.components.definitions import etcd, kube_apiserver
from kwokctl.components.setting import Setting
from kwokctl.dataplane.copies.protobuf_stamp import PREFIX
from kwokctl.dataplane.objects.stored_kind import StoredKind, stored_kind
from kwokctl.errors import NotServedError
from kwokctl.etcd import snapshot_files
from kwokctl.etcd.kv.kv import Kv, prefix_end
from kwokctl.kube.client import Client
from kwokctl.kube.kubeconfig.access import load_access
from kwokctl.kube.served_kinds import ServedKinds, served_kinds
from kwokctl.kube.transport.pool import Pool
from kwokctl.runtime import BringsKubernetes

_OF_MAKER = "/configmaps/kube-system/kubeadm-config"
"""The key in which kubeadm keeps its configuration of a cluster, below the prefix of all keys."""


async def seed(home: Home, saved: Saved, path: Path) -> Callable[[], Awaitable[None]]:
    """Make the data of a new cluster, whose files are there; return what corrects them.

    That is to be called when the API server answers, before controllers see the objects. Raises
    SnapshotError if the file holds nothing under the cluster's prefix, NotServedError if the runtime needs
    objects that it does not hold.
    """
    runtime = home.runtime(saved.options.runtime)
    setting = saved.setting(runtime, home.paths(saved.name))
    prefix = kube_apiserver.prefix(setting)
    snapshot_files.check_objects(path, prefix)
    if isinstance(runtime, BringsKubernetes):
        _check_maker(path, prefix, runtime)
    etcdutl = (await programs(home, saved.options, ["etcdutl"]))["etcdutl"]
    data = ForkedData(file=path, etcdutl=Path(etcdutl.command[0]), revision=0)
    with home.progress.step(f"Preparing the data of '{path}'"):
        await data.restore(setting.paths)
    data.put_in_place(setting.paths)

    async def correct() -> None:
        await wait_served(home, saved)
        await _check_release(home, saved, setting, path)
        await forget_events(setting)
        nodes = registered(runtime, saved)
        await mend(Corrections(setting=setting, has_other_authorities=True, nodes=nodes))

    return correct


async def _check_release(home: Home, saved: Saved, setting: Setting, path: Path) -> None:
    """Raise NotServedError for data that this Kubernetes cannot read, and warn of what it does not show."""
    at = etcd.target(setting)
    async with (
        Kv(at.address, ca=at.ca, cert=at.cert, key=at.key) as kv,
        Pool(load_access(setting.paths.own_kubeconfig)) as pool,
    ):
        stored = await stored_kinds(kv, kube_apiserver.prefix(setting))
        found = unknown(stored, await served_kinds(Client(pool)))
    version = saved.options.kube_version
    if found.unreadable:
        raise NotServedError(
            f"'{path}' was saved by a later Kubernetes than {version}, which cannot read: "
            f"{', '.join(said(found.unreadable))}",
            hint="give the version with which it was saved: --kube-version",
        )
    if found.unserved:
        home.progress.warn(
            f"'{path}' holds kinds that Kubernetes {version} does not serve, so their objects are not visible: "
            f"{', '.join(said(found.unserved))}"
        )


def _check_maker(path: Path, prefix: str, runtime: BringsKubernetes) -> None:
    if not snapshot_files.holds(path, f"{prefix}{_OF_MAKER}"):
        raise NotServedError(
            f"'{path}' was not saved from a cluster of '{runtime.maker}': the new cluster would lack the "
            "objects that its node needs",
            hint="choose another --runtime",
        )


_VERSION = re.compile(r"v(\d+)(?:(alpha|beta)(\d+))?")
_STABILITY = ("alpha", "beta", None)
_NEVER_SERVED = frozenset({"RangeAllocation"})


class Unknown(msgspec.Struct, frozen=True, kw_only=True):
    """Kinds of Kubernetes' own that are stored; each as `Kind (group/version)`."""

    unreadable: Sequence[str]
    """Those in a version later than any that is served: lists of them fail."""
    unserved: Sequence[str]
    """Those that are not served at all: they are not seen."""


async def stored_kinds(kv: Kv, prefix: str) -> set[StoredKind]:
    """Return the kinds of Kubernetes' own objects, by the first of each folder of etcd.

    Custom resources, which are kept as JSON, are left out: they come with their definitions.
    """
    return {
        kind
        async for value in _samples(kv, f"/{prefix.strip('/')}/".encode())
        if value.startswith(PREFIX) and (kind := stored_kind(value))
    }


def unknown(stored: Iterable[StoredKind], served: ServedKinds) -> Unknown:
    """Return what of the stored kinds an API server does not know."""
    versions: dict[tuple[str, str], list[str]] = {}
    for each in served.all:
        resource = each.resource
        versions.setdefault((resource.group, resource.kind), []).append(resource.version)
    unreadable, unserved = [], []
    for kind in sorted(set(stored)):
        group, _, version = kind.api_version.rpartition("/")
        known = versions.get((group, kind.kind), [])
        if not known and kind.kind not in _NEVER_SERVED:
            unserved.append(f"{kind.kind} ({kind.api_version})")
        elif known and _age(version) > max(map(_age, known)):
            unreadable.append(f"{kind.kind} ({kind.api_version})")
    return Unknown(unreadable=unreadable, unserved=unserved)


def _age(version: str) -> tuple[int, int, int]:
    """Return what versions are ordered by, the latest last; what is no version of Kubernetes is first."""
    found = _VERSION.fullmatch(version)
    if found is None:
        return (-1, 0, 0)
    stability = _STABILITY.index(found[2])
    # v1 comes after v2beta1, as Kubernetes orders them.
    return (stability, int(found[1]), int(found[3] or 0))


async def _samples(kv: Kv, prefix: bytes) -> AsyncIterator[bytes]:
    """Yield the first value of each folder; folders of a group, which has a dot, are one level lower."""
    start, end = prefix, prefix_end(prefix)
    while items := (await kv.page(start, end, limit=1)).items:
        (item,) = items
        yield item.value
        words = item.key.removeprefix(prefix).split(b"/")
        depth = 2 if b"." in words[0] or words[0] == b"services" else 1
        start = prefix_end(prefix + b"/".join(words[:depth]) + b"/")


def said(names: Sequence[str], most: int = 5) -> Iterator[str]:
    """Yield some names, and how many more there are."""
    yield from names[:most]
    if len(names) > most:
        yield f"{len(names) - most} more"
