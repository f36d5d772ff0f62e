"""Reads what `kubectl get` prints of a collection: a row for each object, far less than the objects.

https://kubernetes.io/docs/reference/using-api/api-concepts/#receiving-resources-as-tables
"""

from collections.abc import AsyncIterator, Iterator, Sequence

import msgspec

from kwokctl.kube.collections.paging import ListMetadata, ListQuery
from kwokctl.kube.transport.pool import Pool
from kwokctl.kube.transport.refusals import refusal

_TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1"
_PAGE = 5_000
"""Rows, which are a tenth of their objects."""


class _Column(msgspec.Struct):
    name: str


class _Row(msgspec.Struct):
    cells: list[msgspec.Raw]


class _Table(msgspec.Struct, rename="camel"):
    # Only the first page has these.
    column_definitions: list[_Column] = []
    rows: list[_Row] | None = None
    metadata: ListMetadata = msgspec.field(default_factory=ListMetadata)


_decode = msgspec.json.Decoder(_Table).decode
_text = msgspec.json.Decoder(str).decode


async def columns(
    pool: Pool, query: ListQuery, *names: str, resource_version: str = ""
) -> Iterator[tuple[str, ...]]:
    """Return the cells of some columns, which hold text, for each object.

    A `resource_version` of 0 lets the server answer from its cache. Raises ApiError.
    """
    table = await _table(pool, query, resourceVersion=resource_version)
    return _cells(table, _places(table, names))


async def pages_of_columns(
    pool: Pool, query: ListQuery, *names: str, limit: int = _PAGE
) -> AsyncIterator[Iterator[tuple[str, ...]]]:
    """Yield the cells page by page, so that neither side holds all of them. Raises ApiError."""
    table = await _table(pool, query, limit=str(limit))
    places = _places(table, names)
    yield _cells(table, places)
    while follows := table.metadata.next_page:
        table = await _table(pool, query, limit=str(limit), **{"continue": follows})
        yield _cells(table, places)


async def _table(pool: Pool, query: ListQuery, **parameters: str) -> _Table:
    path = query.path(includeObject="None", **parameters)
    response = await pool.request("GET", path, accept=_TABLE)
    if response.status >= 400:
        raise refusal(response.status, response.body)
    return _decode(response.body)


def _places(table: _Table, names: Sequence[str]) -> list[int]:
    known = [column.name for column in table.column_definitions]
    return [known.index(name) for name in names]


def _cells(table: _Table, places: Sequence[int]) -> Iterator[tuple[str, ...]]:
    return (tuple(_text(row.cells[place]) for place in places) for row in table.rows or ())
