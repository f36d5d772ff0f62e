"""Reads the Faults of a cluster, and the units that they hit."""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from typing import TypeVar

import msgspec

from kwokctl.config.nearest import did_you_mean
from kwokctl.errors import ApiError, KwokctlError, NotFoundError
from kwokctl.faults.objects.fault_schema import StoredFault, StoredPage
from kwokctl.faults.objects.unit_rows import UnitRow, read_row
from kwokctl.faults.overlays.definitions import read_definition
from kwokctl.faults.overlays.fault_course import ClassDefinition
from kwokctl.kube.client import Client
from kwokctl.kube.collections.paging import ListQuery, list_pages
from kwokctl.kube.resource import (
    CUSTOM_RESOURCE_DEFINITIONS,
    FAULT_PAGES,
    FAULTS,
    Resource,
)

_T = TypeVar("_T")
_NOT_THERE, _NOT_READY = 404, 503
_NAMED = 5


async def stored_faults(client: Client, names: Sequence[str] = ()) -> list[StoredFault]:
    """Return the Faults of a cluster by name, or those that are named; none where the kind is not defined.

    Raises NotFoundError, with the nearest name, for one that does not exist.
    """
    found = {
        fault.metadata.name: fault async for fault in all_of(client, FAULTS, decode_fault.decode)
    }
    demand_known(names, found)
    return [found[name] for name in dict.fromkeys(names or sorted(found))]


def demand_known(names: Iterable[str], known: Iterable[str]) -> None:
    """Raise NotFoundError, with the nearest name, for names of Faults that do not exist."""
    all_of_them = sorted(known)
    for name in names:
        if name not in all_of_them:
            near = did_you_mean(name, all_of_them)
            raise NotFoundError(f"there is no Fault '{name}'", hint=near or _there_are(all_of_them))


def _there_are(names: Sequence[str]) -> str:
    if not names:
        return "there are none; inject one with: kwokctl fault inject"
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"there are: {', '.join(names[:_NAMED])}{more}"


async def rows_of(client: Client, faults: Sequence[StoredFault]) -> Mapping[str, list[UnitRow]]:
    """Return the units of faults in the order of their selection, by uid."""
    texts = {each.metadata.uid: [*each.status.rows] for each in faults}
    if any(each.status.pages for each in faults):
        pages = [page async for page in all_of(client, FAULT_PAGES, decode_page.decode)]
        for page in sorted(pages, key=lambda page: page.spec.number):
            if page.spec.fault in texts:
                texts[page.spec.fault] += page.spec.rows
    return {
        uid: [row for each in some if (row := read_row(each)) is not None]
        for uid, some in texts.items()
    }


async def definitions_of(
    client: Client, faults: Iterable[StoredFault]
) -> Mapping[str, ClassDefinition]:
    """Return what faults show by the names of the definitions; those that cannot be read are left out."""
    found: dict[str, ClassDefinition] = {}
    for name in dict.fromkeys(each.status.definition for each in faults):
        if name and (body := await client.find(FAULT_PAGES, None, name)) is not None:
            spec = msgspec.convert(body, StoredPage).spec
            if spec.definition is not None:
                try:
                    found[name] = read_definition(spec.definition)
                except KwokctlError:  # not as a controller writes it: nothing is shown of it
                    continue
    return found


async def all_of(
    client: Client, resource: Resource, decode: Callable[[msgspec.Raw], _T]
) -> AsyncIterator[_T]:
    """Yield all objects of a kind; none where it is not defined.

    Raises ApiError, with status 503, if it is defined and not served yet, as for a moment after a rewind has put back its definition.
    """
    try:
        async for page in list_pages(client.pool, ListQuery(resource=resource)):
            for raw in page.objects:
                yield decode(raw)
    except ApiError as e:
        if e.status != _NOT_THERE:
            raise
        definition = f"{resource.plural}.{resource.group}"
        if await client.find(CUSTOM_RESOURCE_DEFINITIONS, None, definition) is not None:
            raise ApiError(
                f"the API server does not serve {resource.kind}s yet", status=_NOT_READY
            ) from e


decode_fault = msgspec.json.Decoder(StoredFault)
decode_page = msgspec.json.Decoder(StoredPage)
