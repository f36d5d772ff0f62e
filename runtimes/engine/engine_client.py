"""Client of the container engine. The SDK is synchronous: it runs in threads, behind coroutines.

It takes a quarter of a second to load, so it is loaded when the engine is first asked.
"""

import asyncio
import socket
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any, cast

import msgspec

from kwokctl.errors import CommandError, ConflictError, NotFoundError, UnavailableError
from kwokctl.host.platforms import user_id
from kwokctl.host.processes.process_usage import descendants
from kwokctl.json_value import Json
from runtimes.engine.endpoint import Endpoint
from runtimes.engine.engine_errors import conflict, explained
from runtimes.engine.nothing import NoSdk

if TYPE_CHECKING:
    from runtimes.engine.sdk import Sdk

_UNIX = "unix://"
_PATIENCE = 60.0
"""Seconds without an answer after which an engine counts as unreachable."""
_PORT_PAUSES = (0.1, 0.2, 0.4, 0.8, 0.0)
"""Seconds after each try to start a container whose port is taken; there is no further try after 0."""

_REMEDY = (
    "start it ('sudo systemctl start docker', or Docker Desktop), or name another engine with "
    "DOCKER_HOST"
)


class Container(msgspec.Struct, frozen=True, kw_only=True):
    """A container that the engine has."""

    id: str
    name: str
    labels: Mapping[str, str]
    sources: frozenset[str]
    """The folders of this host that it sees."""
    is_running: bool


class Engine:
    """One engine. Every method raises UnavailableError when it does not answer, or denies access.

    What it refuses is a NotFoundError, a ConflictError or a CommandError with the engine's words.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        remedy: str = _REMEDY,
        named_by: str = "DOCKER_HOST",
        command: str = "docker",
    ) -> None:
        """Dial the endpoint when something is asked for the first time.

        `remedy` is the hint for an engine that does not answer, `named_by` the variable that names
        it, `command` what its users call.
        """
        self.command = command
        self.endpoint = endpoint
        self.named_by = named_by
        self._remedy = remedy
        self._first = Lock()
        self._describing = Lock()
        self._description: Mapping[str, Json] = {}
        self._stand_in: NoSdk | None = None

    def expect_nothing(self) -> None:
        """Answer from now on as an engine that has nothing yet, for a plan that is not carried out."""
        is_podman = self.command == "podman"
        self._stand_in = NoSdk(is_podman=is_podman, is_rootless=is_podman and bool(user_id()))

    async def check(self) -> None:
        """Raise UnavailableError, with a remedy, unless an engine of this machine answers."""
        if not self.endpoint.is_on_this_machine:
            raise UnavailableError(
                f"the container engine at '{self.endpoint.url}' is another machine's: "
                "it does not see the files of clusters here",
                hint=f"run kwokctl on that machine, or set {self.named_by} to an engine of this "
                "one",
            )
        await self.ask("ping")

    async def is_podman(self) -> bool:
        """Return whether the engine is Podman's service."""

        def asked() -> bool:
            with self.dialled() as client:
                return bool(client.is_podman)

        return await asyncio.to_thread(asked)

    async def info(self) -> Mapping[str, Json]:
        """Return what the engine said of itself when it was first asked: Podman takes 0.3 s for it."""

        def asked() -> Mapping[str, Json]:
            with self.dialled() as client, self._describing:
                self._description = self._description or client.info()
                return self._description

        return await asyncio.to_thread(asked)

    async def containers(self, labels: Mapping[str, str]) -> list[Container]:
        """List the containers, running or not, that have all these labels; an empty value stands for any."""
        found = await self.ask("containers", all=True, filters=_filter(labels))
        return [
            Container(
                id=one["Id"],
                name=one["Names"][0].lstrip("/"),
                labels=one["Labels"],
                sources=frozenset(mount.get("Source", "") for mount in one.get("Mounts") or ()),
                is_running=one["State"] == "running",
            )
            for one in found
        ]

    async def create(self, name: str, body: Mapping[str, Json]) -> None:
        """Make a container; ConflictError if there is one of that name."""
        try:
            await self.ask("create_container_from_config", dict(body), name)
        except ConflictError as e:
            raise ConflictError(
                f"there is a container called '{name}', and it does not belong to this cluster",
                hint=f"remove it with '{self.command} rm --force {name}', or choose another --name",
                detail=e.detail,
            ) from e

    async def start(self, container: str) -> None:
        """Start a container; no effect on a running one. ConflictError for a port that is taken.

        A port is tried again for a moment: Podman answers that a container has stopped before the
        process that watches it, which has its ports, has ended.
        """
        for pause in _PORT_PAUSES:
            try:
                await self.ask("start", container)
            except CommandError as e:
                error = conflict(container, e.detail)
                if error is None:
                    raise
                if not pause:
                    raise error from e
                await asyncio.sleep(pause)
            else:
                return

    async def stop(self, container: str, grace: float) -> None:
        """Ask a container to end, kill it after `grace` seconds, and return when it is gone."""
        await self.ask("stop", container, timeout=round(grace))

    async def remove(self, container: str) -> None:
        """Kill and remove a container; nothing happens when it is not there."""
        # Podman would first ask it to end, and wait.
        with suppress(NotFoundError, ConflictError, CommandError):
            await self.ask("kill", container)
        try:
            await self.ask("remove_container", container, force=True, v=True)
        except (NotFoundError, ConflictError):
            # Another removal is under way: the outcome is the same.
            return

    async def network(
        self, name: str, labels: Mapping[str, str], marks: Mapping[str, str]
    ) -> tuple[str, str]:
        """Return the id and the gateway of the network with all these labels; make it if need be.

        A new one gets `marks`, with the labels among them.

        The gateway is the IPv4 address of the host, or of the machine that the engine runs in; it may be
        empty.
        """
        if found := await self.found_network(name, labels):
            return found
        made = await self.ask("create_network", name, driver="bridge", labels=dict(marks))
        return _reached(await self.ask("inspect_network", made["Id"]))

    async def found_network(self, name: str, labels: Mapping[str, str]) -> tuple[str, str] | None:
        """Return the id and the gateway of a network that exists; None if there is no such network."""
        found = await self.ask("networks", names=[name], filters=_filter(labels))
        return next((_reached(one) for one in found if one["Name"] == name), None)

    async def gateway(self, container: str) -> str:
        """Return the address that a container finds the host at; empty for one that does not run."""
        inspected = await self.ask("inspect_container", container)
        networks = (inspected.get("NetworkSettings") or {}).get("Networks") or {}
        return next((one["Gateway"] for one in networks.values() if one.get("Gateway")), "")

    async def programs(self, container: str) -> dict[int, str]:
        """Return the programs of a container by their ids on this host; none where it has no such."""
        if not self.endpoint.shares_this_kernel:
            return {}
        inspected = await self.ask("inspect_container", container)
        return await asyncio.to_thread(descendants, inspected["State"]["Pid"])

    async def remove_volumes(self, label: str) -> None:
        """Remove the volumes that have a label, whatever its value."""
        found = await self.ask("volumes", filters={"label": [label]})
        for one in found.get("Volumes") or ():
            with suppress(NotFoundError):
                await self.ask("remove_volume", one["Name"])

    async def remove_networks(self, labels: Mapping[str, str]) -> None:
        """Remove the networks that have all these labels."""
        for one in await self.ask("networks", filters=_filter(labels)):
            await self.ask("remove_network", one["Id"])

    async def log(self, container: str) -> bytes:
        """Return what a container has written, oldest first."""
        return bytes(await self.ask("logs", container))

    async def ask(self, method: str, *words: object, **named: object) -> Any:
        """Call a method of the SDK."""

        def call() -> object:
            with self.dialled() as client:
                return getattr(client, method)(*words, **named)

        return await asyncio.to_thread(call)

    @contextmanager
    def dialled(self) -> "Iterator[Sdk]":
        """Yield the SDK's client, in a thread; what it raises becomes an error of kwokctl."""
        if self._stand_in is not None:
            yield cast("Sdk", self._stand_in)
            return
        with explained(self.endpoint.url, self._remedy):
            with self._first:
                client = self._dialled
            yield client

    @contextmanager
    def dialled_for(self, seconds: float) -> "Iterator[Sdk]":
        """Yield a client as `dialled` does, with a longer time limit for answers."""
        with explained(self.endpoint.url, self._remedy):
            client = self._dial(seconds)
            try:
                yield client
            finally:
                client.close()

    @cached_property
    def _dialled(self) -> "Sdk":
        client = self._dial(_PATIENCE)
        weakref.finalize(self, client.close)
        return client

    def _dial(self, patience: float) -> "Sdk":
        from docker.tls import TLSConfig  # a quarter of a second

        from runtimes.engine.sdk import Sdk  # a quarter of a second

        _knock(self.endpoint.url)
        at = self.endpoint.certificates
        tls = at and TLSConfig(
            client_cert=(str(at / "cert.pem"), str(at / "key.pem")),
            ca_cert=str(at / "ca.pem"),
            verify=self.endpoint.verify,
        )

        return Sdk(base_url=self.endpoint.url, version="auto", tls=tls or False, timeout=patience)


def _knock(url: str) -> None:
    """Raise OSError if nothing listens; the SDK would leave its socket open then."""
    if url.startswith(_UNIX) and not hasattr(socket, "AF_UNIX"):
        raise OSError("this platform has no unix sockets")
    if url.startswith(_UNIX):
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(url.removeprefix(_UNIX))


def _reached(network: Mapping[str, Json]) -> tuple[str, str]:
    """Return the id and the gateway of a network."""
    pools = (network.get("IPAM") or {}).get("Config") or ()
    gateways = (pool["Gateway"].partition("/")[0] for pool in pools if pool.get("Gateway"))
    return network["Id"], next((g for g in gateways if "." in g), "")


def _filter(labels: Mapping[str, str]) -> dict[str, list[str]]:
    return {"label": [f"{name}={value}" if value else name for name, value in labels.items()]}
