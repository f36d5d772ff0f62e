"""The parameters that the objects of a set were made with: a later `scale` that gives none uses them again.

The cluster itself remembers them, beside the positions of nodes.
"""

import shlex
from collections.abc import Collection

import msgspec

from kwokctl.clusters.scaling.objects.stored_texts import TextPage, TextStore
from kwokctl.clusters.scaling.scale_request import ScaleRequest
from kwokctl.errors import ApiError
from kwokctl.kube.resource import Resource

NAME = "kwokctl-set-parameters"
"""Of the ConfigMap that remembers them."""
_PART = "_"
"""Parts names of namespaces, kinds and sets: none of them may contain it."""


class _Written(msgspec.Struct):
    """The parameters of a set as they are stored."""

    template: str
    params: tuple[str, ...]


class SetParameters:
    """The stored parameters of one set: those with which its last objects were made."""

    def __init__(self, request: ScaleRequest, resource: Resource, store: TextStore | None) -> None:
        """Remember nothing where there is no store."""
        self._template = request.kind
        self._store = store
        namespace = request.namespace if resource.namespaced else None
        self._key = _PART.join(filter(None, (namespace, resource.plural, request.set_name)))
        self.known: tuple[str, ...] = ()
        """The jq programs, none if nothing is remembered, or for another template."""

    async def recall(self) -> None:
        """Find out what is remembered; nothing where that may not be read."""
        if self._store is None:
            return
        try:
            page = await self._store.read()
        except ApiError as e:
            if e.reason != "Forbidden":
                raise
        else:
            self.known = self._read(page.texts.get(self._key, "")) if page else ()

    async def remember(self, params: tuple[str, ...]) -> None:
        """Keep the parameters of objects that are about to be made."""
        if params != self.known:
            written = _Written(template=self._template, params=params)
            await self._put(msgspec.json.encode(written).decode())

    async def forget(self) -> None:
        """Remember nothing any more of a set that has no objects."""
        await self._put(None)

    async def _put(self, text: str | None) -> None:
        if self._store is None:
            return
        while True:
            page = await self._store.read() or TextPage({})
            texts = {key: value for key, value in page.texts.items() if key != self._key}
            if text is not None:
                texts[self._key] = text
            if texts == page.texts or await self._store.write(TextPage(texts, page.version)):
                return

    def _read(self, text: str) -> tuple[str, ...]:
        try:
            written = msgspec.json.decode(text, type=_Written)
        except ValueError:
            return ()
        return written.params if written.template == self._template else ()


def as_options(params: Collection[str]) -> str:
    """Return parameters as they are given on the command line."""
    return " ".join(f"--param {shlex.quote(each)}" for each in params)
