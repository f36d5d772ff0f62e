"""Serves marks and rewinds on a unix socket that only the cluster's owner may use."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TypeVar

import msgspec

from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.saved import load
from kwokctl.clusters.time_travel.make_mark import drop_marks, list_marks, mark_cluster
from kwokctl.clusters.time_travel.rest import WITHIN as REST_WITHIN
from kwokctl.clusters.time_travel.rest import wait_at_rest
from kwokctl.clusters.time_travel.rewind import rewind_cluster
from kwokctl.clusters.time_travel.stored_marks import Mark
from kwokctl.embedded.http.http_server import HttpServer
from kwokctl.embedded.http.listening import serve_each, unix_socket
from kwokctl.embedded.http.messages import Answer, Request
from kwokctl.embedded.http.route_table import Route, RouteTable
from kwokctl.errors import (
    BusyError,
    ComponentError,
    ConflictError,
    KwokctlError,
    NotFoundError,
    TimedOutError,
    UsageError,
)
from kwokctl.host.files import private_folder
from kwokctl.host.peer_users import user_of_peer
from kwokctl.json_value import Json
from kwokctl.model import ClusterName

T = TypeVar("T")


class MarkWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The body of `POST /mark`."""

    name: str = "mark"
    rest: float = 0.0
    """Seconds in which nothing may have been written before."""


class RewindWords(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel", kw_only=True
):
    """The body of `POST /rewind`."""

    name: str = ""
    """Empty for the latest mark."""
    keep_events: bool = False


class DropWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """The body of `POST /drop`."""

    name: str = ""
    all: bool = False


class MarkRequests:
    """Carries out requests for one cluster, one after the other."""

    def __init__(self, home: Home, cluster: ClusterName) -> None:
        self._home, self._cluster = home, cluster
        self._turn = asyncio.Lock()
        self.by_path: Mapping[tuple[str, str], Callable[[bytes], Awaitable[Json]]] = {
            ("GET", ""): self._about,
            ("GET", "/marks"): self._list,
            ("POST", "/mark"): self._mark,
            ("POST", "/rewind"): self._rewind,
            ("POST", "/drop"): self._drop,
        }

    async def _about(self, _body: bytes) -> Json:
        kubeconfig = self._home.paths(self._cluster).kubeconfig
        return {"cluster": self._cluster, "kubeconfig": str(kubeconfig)}

    async def _list(self, _body: bytes) -> Json:
        return [_document(each) for each in await list_marks(self._home, self._cluster)]

    async def _mark(self, body: bytes) -> Json:
        words = _read(body, MarkWords)
        async with self._turn:
            if words.rest > 0:
                within = REST_WITHIN + words.rest
                await wait_at_rest(self._home, self._cluster, seconds=words.rest, within=within)
            return _document(await mark_cluster(self._home, self._cluster, words.name))

    async def _rewind(self, body: bytes) -> Json:
        words = _read(body, RewindWords)
        async with self._turn:
            done = await rewind_cluster(
                self._home, self._cluster, words.name, keep_events=words.keep_events
            )
        return msgspec.structs.asdict(done)

    async def _drop(self, body: bytes) -> Json:
        words = _read(body, DropWords)
        if words.all == bool(words.name):
            raise UsageError("'drop' needs either 'name' or 'all'")
        async with self._turn:
            return {
                "dropped": await drop_marks(self._home, self._cluster, words.name, every=words.all)
            }


def _read(body: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(body or b"{}", type=kind)
    except (msgspec.MsgspecError, RecursionError) as e:
        raise UsageError(
            f"the request is not understood: {e}", hint="see docs/reference/mark-server.md"
        ) from e


def _document(mark: Mark) -> Json:
    return {
        "name": mark.name,
        "made": mark.made,
        "objects": mark.objects,
        "size": mark.size,
    }


_JSON = "application/json"
_STATUS: tuple[tuple[type[KwokctlError], int], ...] = (
    (NotFoundError, 404),
    (UsageError, 400),
    (BusyError, 409),
    (ConflictError, 409),
    (ComponentError, 503),
    (TimedOutError, 504),
)


@asynccontextmanager
async def serving_marks(
    home: Home, cluster: ClusterName, socket_path: Path | None = None
) -> AsyncIterator[Path]:
    """Serve at a socket, by default one in the cluster's folder, as long as the block runs.

    Raises NotFoundError if there is no such cluster, ConflictError if something serves there already.
    """
    paths = home.paths(cluster)
    load(paths, cluster)
    if socket_path is None:
        private_folder(paths.sockets)
    path = socket_path or paths.marks_socket
    await _check_unserved(path)
    listening = await asyncio.to_thread(unix_socket, path, hint="choose another with --socket")
    server = MarkServer(MarkRequests(home, cluster), user=os.geteuid())
    try:
        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(server.run(listening))
            try:
                yield path
            finally:
                running.cancel()
    finally:
        path.unlink(missing_ok=True)


class MarkServer:
    """Answers the requests of one user, until cancelled."""

    def __init__(self, requests: MarkRequests, *, user: int) -> None:
        """Close the connections of others."""
        self._user = user
        routes = [
            Route(path=path, methods=frozenset({method}), answer=partial(_answer, carry_out))
            for (method, path), carry_out in requests.by_path.items()
        ]
        self._http = HttpServer(RouteTable(routes), _everybody)

    async def run(self, listening: socket.socket) -> None:
        """Serve the connections of a socket; close it in the end."""
        await serve_each([listening], self._serve)

    async def _serve(self, found: socket.socket) -> None:
        if user_of_peer(found) == self._user:
            await self._http.serve(found, None)
        else:
            found.close()


async def _everybody(_request: Request, _certificate: object) -> None:
    """Admit a request: the user was checked when it connected."""


async def _answer(carry_out: Callable[[bytes], Awaitable[Json]], request: Request) -> Answer:
    try:
        return _json(200, await carry_out(request.body))
    except KwokctlError as e:
        status = next((number for kind, number in _STATUS if isinstance(e, kind)), 500)
        return _json(status, {"error": {"id": e.id, "message": str(e), "hint": e.hint or ""}})


def _json(status: int, document: Json) -> Answer:
    return Answer(status, msgspec.json.encode(document) + b"\n", content_type=_JSON)


async def _check_unserved(path: Path) -> None:
    """Raise ConflictError if something answers at a socket; one that was left behind does not."""
    with suppress(OSError):
        _, writer = await asyncio.open_unix_connection(path)
        writer.close()
        raise ConflictError(
            f"'{path}' is served already", hint="use that, or choose another with --socket"
        )
