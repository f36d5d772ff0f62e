"""Whether the API server understands what a load selects by, before anything is created."""

from http import HTTPStatus

from kwokctl.errors import ApiError
from kwokctl.kube.collections.paging import METADATA, ListQuery, one_page
from kwokctl.kube.transport.pool import Pool


async def problem_of(pool: Pool, query: ListQuery) -> str:
    """Return what is wrong with the selector of a query; empty if nothing is, or if listing is refused."""
    try:
        await one_page(pool, query.path(limit="1"), accept=METADATA)
    except ApiError as e:
        return str(e) if e.status == HTTPStatus.BAD_REQUEST else ""
    return ""
