"""Applies objects to a cluster, in an order in which the API server accepts them."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

import msgspec

from kwokctl.errors import ApiError, TimedOutError
from kwokctl.json_value import Json
from kwokctl.kube.client import FIELD_MANAGER, Client, PatchType
from kwokctl.retry import retried
from kwokctl.tasks import for_each

DEFINITION = "CustomResourceDefinition"
_SECONDS = 60.0
"""Until a new kind must be served; it takes about one."""
_LOOK_AGAIN = 0.1
_MISSING = 404


async def wait_served(client: Client, definitions: Iterable[Mapping[str, Json]]) -> None:
    """Wait until every version of these kinds answers, and is found; TimedOutError names one that is not.

    The lists of groups and kinds, with which programs find a kind, come up to seconds after the kind itself answers: a
    controller that begins in between ends with "no matches for kind".
    """
    await asyncio.gather(*(_served(client, each) for each in definitions))


async def _served(client: Client, body: Mapping[str, Json]) -> None:
    name = body["metadata"]["name"]
    try:
        async with asyncio.timeout(_SECONDS):
            for path in paths(body["spec"]):
                await _until_served(client, path)
                await _until_found(client, path)
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
        await asyncio.sleep(_LOOK_AGAIN)


class _Named(msgspec.Struct, rename="camel"):
    name: str = ""
    group_version: str = ""


class _Group(msgspec.Struct):
    versions: list[_Named] = []


class _Groups(msgspec.Struct):
    groups: list[_Group] = []


class _Kinds(msgspec.Struct):
    resources: list[_Named] = []


async def _until_found(client: Client, path: str) -> None:
    """Return when the kind of a collection is in the lists in which programs look for it."""
    version, _, plural = path.rpartition("/")
    while True:
        if await _is_found(client, version, plural):
            return
        await asyncio.sleep(_LOOK_AGAIN)


async def _is_found(client: Client, version: str, plural: str) -> bool:
    try:
        kinds = await retried(lambda: client.call("GET", version))
        groups = await retried(lambda: client.call("GET", "/apis"))
    except ApiError as e:
        if e.status != _MISSING:
            raise
        return False
    listed = msgspec.json.decode(groups, type=_Groups).groups
    return any(
        each.name == plural for each in msgspec.json.decode(kinds, type=_Kinds).resources
    ) and any(
        f"/apis/{each.group_version}" == version for group in listed for each in group.versions
    )


_REQUESTS_TOGETHER = 32
_FIRST = (DEFINITION, "Namespace")
_LAST = ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration")
"""They would be asked about the other objects."""
_ACCOUNT_WITHIN, _POLL = 60.0, 0.05
"""Seconds in which the controller-manager makes the ServiceAccount of a new namespace."""
_FORBIDDEN = 403


async def apply_all(
    client: Client, objects: Sequence[Mapping[str, Json]], *, namespace: str = "default"
) -> list[dict[str, Json]]:
    """Create objects, or give them the fields that are given; return them as they are stored.

    An object without a namespace gets `namespace` if its kind has one. New kinds are served before
    their objects are applied. Raises ApiError for the first that is refused.
    """
    stored: dict[int, dict[str, Json]] = {}

    async def one(number: int) -> None:
        stored[number] = await apply_one(client, objects[number], namespace=namespace)

    for group in _groups(objects):
        await for_each(group, one, at_once=_REQUESTS_TOGETHER)
        await wait_served(client, [objects[n] for n in group if objects[n]["kind"] == DEFINITION])
    return [stored[number] for number in range(len(objects))]


async def apply_one(
    client: Client, body: Mapping[str, Json], *, namespace: str = ""
) -> dict[str, Json]:
    """Apply one object, or create it if the API server is to make its name."""
    metadata = body["metadata"]
    resource = await client.resource_for(body["apiVersion"], body["kind"])
    within = (metadata.get("namespace") or namespace) if resource.namespaced else None
    content = msgspec.json.encode(body)
    path = resource.path(within, metadata.get("name"))
    if "name" in metadata:
        path += f"?fieldManager={FIELD_MANAGER}&force=true"
        send = partial(client.call, "PATCH", path, content, content_type=PatchType.APPLY)
    else:
        send = partial(client.call, "POST", f"{path}?fieldManager={FIELD_MANAGER}", content)
    answer = await _with_account(partial(retried, send))
    found: dict[str, Json] = msgspec.json.decode(answer)
    return found


def _groups(objects: Sequence[Mapping[str, Json]]) -> Iterable[Sequence[int]]:
    """Return the numbers of the objects in groups, each of which must be applied before the next."""
    ranks: dict[int, list[int]] = {}
    for number, body in enumerate(objects):
        ranks.setdefault(_rank(body["kind"]), []).append(number)
    return [ranks[rank] for rank in sorted(ranks)]


def _rank(kind: str) -> int:
    if kind in _FIRST:
        return _FIRST.index(kind)
    return len(_FIRST) + (kind in _LAST)


async def _with_account(send: Callable[[], Awaitable[bytes]]) -> bytes:
    """Send a request, again while the namespace of a pod is so new that it has no ServiceAccount."""
    clock = asyncio.get_running_loop().time
    until = clock() + _ACCOUNT_WITHIN
    while True:
        try:
            return await send()
        except ApiError as e:
            is_early = e.status == _FORBIDDEN and "error looking up service account" in str(e)
            if not is_early or clock() > until:
                raise
        await asyncio.sleep(_POLL)
