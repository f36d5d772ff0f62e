"""Connects to the etcd of a kwokctl cluster, or to any other etcd that an API server uses."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import msgspec

from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.saved import load
from kwokctl.clusters.stopped_components import demand_running
from kwokctl.components.definitions import etcd, kube_apiserver
from kwokctl.dataplane.object_store import ObjectStore
from kwokctl.dataplane.objects.resources import DEFINITIONS, StoredResources, resources_with
from kwokctl.errors import EtcdGoneError, NotFoundError, UsageError
from kwokctl.etcd.kv.kv import Kv, prefix_end
from kwokctl.etcd.kv.maintenance import status
from kwokctl.json_value import Json
from kwokctl.kube.client import Client
from kwokctl.kube.kubeconfig.access import load_access
from kwokctl.kube.transport.pool import Pool
from kwokctl.model import ETCD, KUBE_APISERVER, ClusterName, State

T = TypeVar("T")
_SECURE, _PLAIN = "https://", "http://"


@dataclass(frozen=True, slots=True, kw_only=True)
class EtcdLogin:
    """The address and credentials of an etcd that does not belong to a kwokctl cluster."""

    endpoints: tuple[str, ...]
    """`host:port`, with or without `http://` or `https://`; the first that answers is used."""
    ca: Path | None = None
    cert: Path | None = None
    key: Path | None = None
    accepts_any: bool = False
    """Whether any certificate of etcd is accepted."""
    user: str = ""
    """A user of etcd; empty if there is none, or if the client certificate names it."""
    password: str = field(default="", repr=False)
    patience: float
    """Seconds within which each endpoint must answer."""


class ObjectAccess(msgspec.Struct, frozen=True, kw_only=True):
    """An etcd with the objects of an API server."""

    kv: Kv
    prefix: str
    """The prefix of all keys, ending with a slash."""
    resources: StoredResources
    api: Client | None
    """The API server of this etcd, if it is known and runs."""

    @property
    def store(self) -> ObjectStore:
        """The writer for this etcd."""
        return ObjectStore(self.kv)


async def with_objects(
    door: AbstractAsyncContextManager[ObjectAccess], work: Callable[[ObjectAccess], Awaitable[T]]
) -> T:
    """Connect, await `work`, and close the connection."""
    async with door as access:
        return await work(access)


@asynccontextmanager
async def own_objects(
    home: Home, name: ClusterName, prefix: str = ""
) -> AsyncIterator[ObjectAccess]:
    """Connect to the etcd of a cluster; ComponentError, with a hint, if it does not run."""
    paths = home.paths(name)
    saved = load(paths, name)
    runtime = home.runtime(saved.options.runtime)
    await demand_running(home, runtime, name, ETCD)
    states = await runtime.states(name)
    setting = saved.setting(runtime, paths)
    at = etcd.target(setting)
    async with AsyncExitStack() as opened:
        kv = await opened.enter_async_context(Kv(at.address, ca=at.ca, cert=at.cert, key=at.key))
        api = None
        if states.get(KUBE_APISERVER) is State.RUNNING:
            access = load_access(paths.own_kubeconfig)
            api = Client(await opened.enter_async_context(Pool(access)))
        yield await _access(kv, prefix or kube_apiserver.prefix(setting), api)


@asynccontextmanager
async def other_objects(login: EtcdLogin, prefix: str) -> AsyncIterator[ObjectAccess]:
    """Connect to the first etcd that answers; EtcdGoneError if none does."""
    kv = await _answering(login)
    try:
        if login.user:
            await kv.log_in(login.user, login.password)
        yield await _access(kv, prefix, None)
    finally:
        await kv.close()


async def _answering(login: EtcdLogin) -> Kv:
    failure: EtcdGoneError | None = None
    for endpoint in login.endpoints:
        kv = _dialled(login, endpoint)
        try:
            await status(kv, within=login.patience)
        except EtcdGoneError as e:
            failure = failure or e
            await kv.close()
        else:
            return kv
    raise failure or UsageError("'--endpoints' names no etcd", hint="for example: 127.0.0.1:2379")


def _dialled(login: EtcdLogin, endpoint: str) -> Kv:
    wants_tls = login.ca is not None or login.accepts_any
    is_secure = endpoint.startswith(_SECURE) or (wants_tls and not endpoint.startswith(_PLAIN))
    if is_secure and not wants_tls:
        raise UsageError(
            f"'--cacert' is needed for '{endpoint}'",
            hint="give the authority whose certificate etcd shows, or, where nothing else can be "
            "reached, --insecure-skip-tls-verify",
        )
    target = endpoint.removeprefix(_SECURE).removeprefix(_PLAIN).rstrip("/")
    return Kv(
        target,
        ca=login.ca if is_secure else None,
        cert=login.cert if is_secure else None,
        key=login.key if is_secure else None,
        accepts_any=is_secure and login.accepts_any,
    )


async def _access(kv: Kv, prefix: str, api: Client | None) -> ObjectAccess:
    """Check that an API server uses this etcd, and read the kinds that it serves."""
    below = f"/{prefix.strip('/')}/"
    start = below.encode()
    if not (await kv.page(start, prefix_end(start), limit=1, keys_only=True)).items:
        raise NotFoundError(
            f"etcd has no key that begins with '{below}'",
            hint="it is not the etcd of an API server, or its keys have another prefix: give that "
            "with --prefix",
        )
    definitions = f"{below}{DEFINITIONS}".encode()
    page = await kv.page(definitions, prefix_end(definitions))
    found = [each for each in map(_definition, (item.value for item in page.items)) if each]
    return ObjectAccess(kv=kv, prefix=below, resources=resources_with(found), api=api)


def _definition(value: bytes) -> Mapping[str, Json] | None:
    """Read a CustomResourceDefinition; None if it is encrypted."""
    try:
        found: Mapping[str, Json] = msgspec.json.decode(value)
    except msgspec.DecodeError:
        return None
    return found
