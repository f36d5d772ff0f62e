"""Waits until the API server serves the kinds of CustomResourceDefinitions."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping

from kwokctl.errors import ApiError, TimedOutError
from kwokctl.json_value import Json
from kwokctl.kube.client import Client
from kwokctl.retry import retried

DEFINITION = "CustomResourceDefinition"
_SECONDS = 60.0
"""Until a new kind must be served; it takes about one."""
_POLL = 0.1
_MISSING = 404


async def wait_served(client: Client, definitions: Iterable[Mapping[str, Json]]) -> None:
    """Wait until every version of these kinds answers; TimedOutError names one that does not."""
    await asyncio.gather(*(_served(client, each) for each in definitions))


async def _served(client: Client, body: Mapping[str, Json]) -> None:
    name = body["metadata"]["name"]
    try:
        async with asyncio.timeout(_SECONDS):
            for path in paths(body["spec"]):
                await _until_served(client, path)
    except TimeoutError as e:
        raise TimedOutError(
            f"the cluster does not serve '{name}' {_SECONDS:g} s after its definition was applied",
            hint=f"look at it with: kubectl describe crd {name}",
        ) from e


def paths(spec: Mapping[str, Json]) -> Iterator[str]:
    """Yield the paths of the collections that the spec of a definition serves."""
    for version in spec["versions"]:
        if version.get("served"):
            yield f"/apis/{spec['group']}/{version['name']}/{spec['names']['plural']}"


async def _until_served(client: Client, path: str) -> None:
    while True:
        try:
            await retried(lambda: client.call("GET", f"{path}?limit=1"))
        except ApiError as e:
            if e.status != _MISSING:
                raise
        else:
            return
        await asyncio.sleep(_POLL)
