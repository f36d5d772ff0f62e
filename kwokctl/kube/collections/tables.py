"""Reads what `kubectl get` prints of a collection: a row for each object, far less than the objects.

https://kubernetes.io/docs/reference/using-api/api-concepts/#receiving-resources-as-tables
"""

from collections.abc import Iterator

import msgspec

from kwokctl.kube.collections.paging import ListQuery
from kwokctl.kube.transport.pool import Pool
from kwokctl.kube.transport.status import refusal

_TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1"


class _Column(msgspec.Struct):
    name: str


class _Row(msgspec.Struct):
    cells: list[msgspec.Raw]


class _Table(msgspec.Struct, rename="camel"):
    column_definitions: list[_Column]
    rows: list[_Row] | None = None


_decode = msgspec.json.Decoder(_Table).decode
_text = msgspec.json.Decoder(str).decode


async def columns(
    pool: Pool, query: ListQuery, *names: str, resource_version: str = ""
) -> Iterator[tuple[str, ...]]:
    """Return the cells of some columns, which hold text, for each object.

    A `resource_version` of 0 lets the server answer from its cache. Raises ApiError.
    """
    path = query.path(includeObject="None", resourceVersion=resource_version)
    response = await pool.request("GET", path, accept=_TABLE)
    if response.status >= 400:
        raise refusal(response.status, response.body)
    table = _decode(response.body)
    known = [column.name for column in table.column_definitions]
    places = [known.index(name) for name in names]
    return (tuple(_text(row.cells[place]) for place in places) for row in table.rows or ())
