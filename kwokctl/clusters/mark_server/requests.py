"""The requests that a program can make: what is in them, and what they are answered with."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

import msgspec

from kwokctl.clusters.state.home import Home
from kwokctl.clusters.time_travel.mark import drop_marks, list_marks, mark_cluster
from kwokctl.clusters.time_travel.marks import Mark
from kwokctl.clusters.time_travel.rest import WITHIN as REST_WITHIN
from kwokctl.clusters.time_travel.rest import wait_at_rest
from kwokctl.clusters.time_travel.rewind import rewind_cluster
from kwokctl.errors import UsageError
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
