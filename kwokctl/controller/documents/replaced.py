"""Remembers in the cluster which Stages of files were replaced by custom resources of the same name.

A ConfigMap keeps them, so that a restart finds them, and a snapshot, a fork and a rewind have those that
belong to their custom resources.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import aclosing
from random import Random

import msgspec

from kwokctl.errors import ApiError
from kwokctl.json_value import Json
from kwokctl.kube.client import Client, PatchType
from kwokctl.kube.collections.watch import EventType, watch
from kwokctl.kube.resource import CONFIG_MAPS
from kwokctl.retry import until_answered

log = logging.getLogger(__name__)

NAME, NAMESPACE = "kwokctl-replaced-stages", "kube-system"
FORGET = f"kubectl -n {NAMESPACE} delete configmap {NAME}"
"""The command that brings back all Stages that nothing replaces any more."""
_AGAIN = 5.0
"""Seconds until what could not be written is tried again."""


class ReplacedStages:
    """The names of replaced Stages, each with that of what has replaced it."""

    def __init__(
        self, client: Client, use: Callable[[Mapping[str, str]], None], random: Random
    ) -> None:
        """Call `use` with them when they are known, and after each change."""
        self._client = client
        self._use = use
        self._random = random
        self._kept: Mapping[str, str] = {}
        self._new: dict[str, str] = {}
        self._any = asyncio.Event()
        self._known = asyncio.Event()

    def note(self, replaced: Mapping[str, str]) -> None:
        """Remember more of them."""
        if replaced:
            self._new |= replaced
            self._any.set()

    async def known(self) -> None:
        """Wait until they have been read, or the cluster has turned out not to show them."""
        await self._known.wait()

    async def run(self) -> None:
        """Follow them, and write new ones, until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(until_answered(self._follow, self._random))
            tasks.create_task(self._write())

    async def _follow(self) -> None:
        events = watch(
            self._client.pool,
            CONFIG_MAPS,
            decoder=msgspec.json.decode,
            namespace=NAMESPACE,
            field_selector=f"metadata.name={NAME}",
        )
        kept: Mapping[str, str] = {}
        try:
            async with aclosing(events) as batches:
                async for batch in batches:
                    for event in batch:
                        if event.object is not None and event.object["metadata"]["name"] == NAME:
                            kept = _data(event.object, event.type)
                        if event.type is EventType.SYNCED or self._known.is_set():
                            self._take(kept)
        except ApiError:
            self._take(
                {}
            )  # it may not be read: what was replaced is known until the end of the process
            raise

    def _take(self, kept: Mapping[str, str]) -> None:
        self._kept = kept
        self._known.set()
        self._use({**self._new, **kept})

    async def _write(self) -> None:
        await self._known.wait()
        while True:
            await self._any.wait()
            self._any.clear()
            new = {name: by for name, by in self._new.items() if name not in self._kept}
            try:
                if new:
                    await self._add(new)
            except ApiError as e:
                log.warning("the list of replaced Stages cannot be written: %s; trying again", e)
                await asyncio.sleep(_AGAIN)
                self._any.set()
                continue
            self._kept = {**self._kept, **new}
            self._new = {name: by for name, by in self._new.items() if name not in self._kept}

    async def _add(self, new: Mapping[str, str]) -> None:
        body = msgspec.json.encode({"data": new})
        path = CONFIG_MAPS.path(NAMESPACE, NAME)
        try:
            await self._client.call("PATCH", path, body, content_type=PatchType.MERGE)
        except ApiError as e:
            if e.status != 404:
                raise
            metadata = {"name": NAME, "namespace": NAMESPACE}
            whole = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": new}
            await self._client.create(CONFIG_MAPS, NAMESPACE, msgspec.json.encode(whole))


def _data(body: Mapping[str, Json], happened: EventType) -> Mapping[str, str]:
    return {} if happened is EventType.DELETED else dict(body.get("data") or {})
