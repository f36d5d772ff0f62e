"""Lists a collection page by page, all pages of one moment."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from urllib.parse import urlencode

import msgspec

from kwokctl.kube.resource import Resource
from kwokctl.kube.transport.pool import JSON, Pool
from kwokctl.kube.transport.status import refusal

PAGE = 500


class ListMetadata(msgspec.Struct, rename={"resource_version": "resourceVersion"}):
    """What a list says about itself."""

    resource_version: str = ""
    next_page: str = msgspec.field(name="continue", default="")
    remaining: int = msgspec.field(name="remainingItemCount", default=0)
    """How many objects come after this page, if the server says."""


class ListPage(msgspec.Struct):
    """A part of a list: its objects as JSON, without `apiVersion` and `kind`."""

    metadata: ListMetadata = msgspec.field(default_factory=ListMetadata)
    items: list[msgspec.Raw] | None = None

    @property
    def objects(self) -> list[msgspec.Raw]:
        """The objects of this page; they keep the page's memory alive."""
        return self.items or []


_pages = msgspec.json.Decoder(ListPage)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListQuery:
    """Which objects of a collection."""

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
    than all of it. Raises ApiError, with status 410 if reading took so long that the server has
    forgotten the first page's moment.
    """
    size = "" if resource_version == "0" or not limit else str(limit)
    parameters = {"limit": size, "resourceVersion": resource_version}
    while True:
        response = await pool.request("GET", query.path(**parameters), accept=accept)
        if response.status >= 400:
            raise refusal(response.status, response.body)
        page = _pages.decode(response.body)
        yield page
        if not page.metadata.next_page:
            return
        parameters = {"limit": size, "continue": page.metadata.next_page}
