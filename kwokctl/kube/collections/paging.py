"""Lists a collection: in pages of one resourceVersion, or in one answer that is read as a stream.

Pages cost the API server three times as much as one answer from its watch cache, and the client waits
for each. An answer of a hundred thousand objects is never held as a whole: neither here, nor by an API
server that streams collections
(https://kubernetes.io/blog/2025/05/09/kubernetes-v1-33-streaming-list-responses/).
"""

from collections.abc import AsyncIterator
from urllib.parse import urlencode

import msgspec

from kwokctl.kube.collections.known_objects import metadata_of
from kwokctl.kube.resource import Resource
from kwokctl.kube.transport.pool import Pool
from kwokctl.kube.transport.refusals import refusal
from kwokctl.kube.transport.request_encoder import JSON
from kwokctl.kube.transport.wire import BY_SERVER, lost

PAGE = 500
_ITEMS = b'"items":['
_SILENCE = 60.0
"""Seconds; the API server ends an answer that takes longer than a minute by itself."""


class ListMetadata(msgspec.Struct, rename={"resource_version": "resourceVersion"}):
    """The metadata of a list."""

    resource_version: str = ""
    next_page: str = msgspec.field(name="continue", default="")
    remaining: int = msgspec.field(name="remainingItemCount", default=0)
    """The number of objects after this page, if the server reports it."""


class ListPage(msgspec.Struct):
    """A part of a list: its objects as JSON, without `apiVersion` and `kind`."""

    metadata: ListMetadata = msgspec.field(default_factory=ListMetadata)
    items: list[msgspec.Raw] | None = None

    @property
    def objects(self) -> list[msgspec.Raw]:
        """The objects of this page; they keep the page's memory alive."""
        return self.items or []


_pages = msgspec.json.Decoder(ListPage)
METADATA = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
"""Asks for the metadata of objects, and nothing else of them."""


class ListQuery(msgspec.Struct, frozen=True, kw_only=True):
    """The selection of objects of a collection."""

    resource: Resource
    namespace: str | None = None
    label_selector: str = ""
    field_selector: str = ""

    def path(self, **parameters: str) -> str:
        """Return the path and query of a request; empty parameters are left out."""
        words = {
            "labelSelector": self.label_selector,
            "fieldSelector": self.field_selector,
            **parameters,
        }
        query = urlencode({key: value for key, value in words.items() if value})
        path = self.resource.path(self.namespace)
        return f"{path}?{query}" if query else path


async def one_page(pool: Pool, path: str, *, accept: str = JSON) -> ListPage:
    """Return the answer to one request for a list, or for a part of one; ApiError if it is refused."""
    response = await pool.request("GET", path, accept=accept)
    if response.status >= 400:
        raise refusal(response.status, response.body)
    return _pages.decode(response.body)


async def list_pages(
    pool: Pool,
    query: ListQuery,
    *,
    limit: int = PAGE,
    resource_version: str = "",
    accept: str = JSON,
) -> AsyncIterator[ListPage]:
    """Yield the pages of a list, all as of the first page's `resourceVersion`.

    `limit` 0 asks for all at once. A `resource_version` of 0 lets the server answer from its cache,
    which then ignores the limit, so the limit is left out. `accept` may ask for less of each object
    than all of it. Raises ApiError, with status 410 if reading took so long that the first page's
    version has been compacted.
    """
    size = "" if resource_version == "0" or not limit else str(limit)
    parameters = {"limit": size, "resourceVersion": resource_version}
    while True:
        page = await one_page(pool, query.path(**parameters), accept=accept)
        yield page
        if not page.metadata.next_page:
            return
        parameters = {"limit": size, "continue": page.metadata.next_page}


async def count(pool: Pool, query: ListQuery) -> int:
    """Return how many objects there are, reading the metadata of one; without a field selector.

    The API server reports how many remain only where nothing is selected
    (https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#listmeta-v1-meta).
    """
    page = await one_page(pool, query.path(limit="1"), accept=METADATA)
    return len(page.objects) + page.metadata.remaining


async def list_from_cache(
    pool: Pool, query: ListQuery, *, accept: str = JSON
) -> AsyncIterator[ListPage]:
    """Yield the objects of a collection as they come; only the last page says which version it is.

    The list may be older than the newest state of the collection: what has changed since comes
    with a watch from its `resourceVersion` on
    (https://kubernetes.io/docs/reference/using-api/api-concepts/#semantics-for-get-and-list).
    Raises ApiError, also when the answer ends before the list does.
    """
    cutter = ListCutter()
    async with pool.stream(
        query.path(resourceVersion="0"), accept=accept, silence=_SILENCE
    ) as stream:
        async for piece in stream:
            if objects := cutter.feed(piece):
                yield ListPage(items=[msgspec.Raw(each) for each in objects])
    yield cutter.end()


class ListCutter:
    """Cuts the JSON of a list, which comes in pieces, into its objects.

    All objects of a list begin with the same key. Where one may begin the text is cut; what is then
    not JSON by itself was cut inside an object, and is joined with what follows.
    """

    __slots__ = ("_head", "_joint", "_open", "_rest")

    def __init__(self) -> None:
        self._head = b""
        """The list up to its first object."""
        self._open = b""
        """The beginning of each object, such as `{"metadata":`."""
        self._joint = b""
        """The end of an object, and the beginning of the next."""
        self._rest = b""
        """The bytes after the last whole object."""

    def feed(self, piece: bytes) -> list[bytes]:
        """Return the objects that end in this piece, but for the last one of the list."""
        self._rest += piece
        if not self._open and not self._find_first():
            return []
        parts = self._rest.split(self._joint)
        objects: list[bytes] = []
        begun = parts[0]
        for part in parts[1:]:
            whole = begun + b"}"
            if _is_object(whole):
                objects.append(whole)
                begun = self._open + part
            else:
                begun += self._joint + part
        self._rest = begun
        return objects

    def end(self) -> ListPage:
        """Return the last object, and the list's metadata; ApiError if it is cut off."""
        try:
            return _pages.decode(self._head + self._rest)
        except msgspec.DecodeError as e:
            raise lost(BY_SERVER) from e

    def _find_first(self) -> bool:
        """Look for the first object; False as long as too little has come to know it."""
        before, found, after = self._rest.partition(_ITEMS)
        key, is_whole, _ = after.partition(b":")
        if not (found and is_whole and key.startswith(b'{"')):
            return False
        self._head, self._rest = before + found, after
        self._open = key + is_whole
        self._joint = b"}," + self._open
        return True


def _is_object(text: bytes) -> bool:
    try:
        metadata_of(text)
    except msgspec.DecodeError:
        return False
    return True
