"""Texts that `scale` keeps in a ConfigMap of the cluster, so that they are in every snapshot.

It is changed by its version, so that several commands may write at the same time.
"""

import asyncio
from collections.abc import Mapping
from typing import Any, Protocol

import msgspec
import orjson

from kwokctl.errors import ApiError
from kwokctl.kube.client import Client
from kwokctl.kube.resource import CONFIG_MAPS

_NAMESPACE = "kube-system"
_PATIENCE = 60.0
_LOOK_AGAIN = 0.1


class TextPage(msgspec.Struct, frozen=True):
    """The texts as they are stored, with their version."""

    texts: Mapping[str, str]
    version: str = ""
    """Empty if nothing has ever been stored."""


class TextStore(Protocol):
    """Stores texts in the cluster. Both methods raise ApiError."""

    async def read(self) -> TextPage | None:
        """Return the stored page, None if there has never been one."""
        ...

    async def write(self, page: TextPage) -> bool:
        """Replace a page; False if it has been changed since it was read."""
        ...


class ClusterTexts:
    """Texts in one ConfigMap."""

    def __init__(self, client: Client, name: str) -> None:
        self._client = client
        self._name = name

    async def read(self) -> TextPage | None:
        """Return the stored page, None if there has never been one."""
        found = await self._client.find(CONFIG_MAPS, _NAMESPACE, self._name)
        if found is None:
            return None
        return TextPage(found.get("data") or {}, found["metadata"]["resourceVersion"])

    async def write(self, page: TextPage) -> bool:
        """Write a page, unless it has been changed since it was read."""
        metadata: dict[str, Any] = {"name": self._name, "namespace": _NAMESPACE}
        if page.version:
            metadata["resourceVersion"] = page.version
        data = dict(sorted(page.texts.items()))
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
        try:
            if page.version:
                await self._client.update(CONFIG_MAPS, _NAMESPACE, self._name, orjson.dumps(body))
            else:
                await self._create(orjson.dumps(body))
        except ApiError as e:
            if e.reason not in {"Conflict", "AlreadyExists"}:
                raise
            return False
        return True

    async def _create(self, body: bytes) -> None:
        """Create the ConfigMap; a cluster that has just been started may lack its namespace yet."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + _PATIENCE
        while True:
            try:
                await self._client.create(CONFIG_MAPS, _NAMESPACE, body)
            except ApiError as e:
                if e.reason != "NotFound" or loop.time() > deadline:
                    raise
            else:
                return
            await asyncio.sleep(_LOOK_AGAIN)
