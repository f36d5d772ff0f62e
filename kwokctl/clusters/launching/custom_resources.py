"""Lets a cluster serve the kinds of documents that are custom resources, too."""

import asyncio
from collections.abc import Iterator

import msgspec

from kwokctl import assets
from kwokctl.clusters.state.documents import controller_options
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.saved import Saved
from kwokctl.components.definitions.kwok_controller import KwokControllerOptions
from kwokctl.errors import ApiError, TimedOutError
from kwokctl.expr import yaml
from kwokctl.json_value import Json
from kwokctl.kube.client import FIELD_MANAGER, Client, PatchType
from kwokctl.kube.kubeconfig.access import load_access
from kwokctl.kube.resource import Resource
from kwokctl.kube.transport.pool import Pool
from kwokctl.retry import retried
from kwokctl.tasks import for_each

_DEFINITIONS = Resource(
    "apiextensions.k8s.io",
    "v1",
    "customresourcedefinitions",
    "CustomResourceDefinition",
    namespaced=False,
)
_SECONDS = 60.0
"""Until a new kind must be served; it takes about one."""
_POLL = 0.1


def enabled_kinds(saved: Saved) -> set[str]:
    """Return the kinds of documents that are custom resources of a cluster, too."""
    flagged = saved.options.of(KwokControllerOptions).enable_crds
    return {*flagged, *(controller_options(saved.kept).get("enableCRDs") or ())}


async def install_definitions(home: Home, saved: Saved) -> None:
    """Apply the CustomResourceDefinitions of the enabled kinds, and wait until they are served.

    Safe to repeat; those of kinds that are not shipped are for a user to apply.
    """
    bodies = list(definitions(saved))
    if not bodies:
        return
    kinds = [str(body["spec"]["names"]["kind"]) for body in bodies]
    plural = "s" if len(kinds) > 1 else ""
    title = f"Installing the CustomResourceDefinition{plural} of {', '.join(kinds)}"
    with home.progress.step(title, total=len(bodies), unit="kinds") as step:
        async with Pool(load_access(home.paths(saved.name).kubeconfig)) as pool:

            async def install(body: dict[str, Json]) -> None:
                await _install(Client(pool), body)
                step.advance()

            # The API server takes its time for each, and as long for all of them.
            await for_each(bodies, install, at_once=len(bodies))


def definitions(saved: Saved) -> Iterator[dict[str, Json]]:
    """Yield the definitions of the enabled kinds, as far as those are shipped."""
    for kind in sorted(enabled_kinds(saved)):
        yield from shipped_definition(kind)


def shipped_definition(kind: str) -> Iterator[dict[str, Json]]:
    """Yield the definition of a kind, if there is one: those of a subject are in one file."""
    file = assets.path(f"crds/{kind.removeprefix('Cluster').lower()}.yaml")
    if file.is_file():
        body = yaml.load(file.read_text(encoding="utf-8"))
        bodies = body["items"] if body["kind"] == "List" else [body]
        yield from (each for each in bodies if each["spec"]["names"]["kind"] == kind)


async def _install(client: Client, body: dict[str, Json]) -> None:
    name, spec = body["metadata"]["name"], body["spec"]
    path = f"{_DEFINITIONS.path(None, name)}?fieldManager={FIELD_MANAGER}&force=true"
    content = msgspec.json.encode(body)
    await retried(lambda: client.call("PATCH", path, content, content_type=PatchType.APPLY))
    served = (
        f"/apis/{spec['group']}/{spec['versions'][0]['name']}/{spec['names']['plural']}?limit=1"
    )
    try:
        async with asyncio.timeout(_SECONDS):
            await _until_served(client, served)
    except TimeoutError as e:
        raise TimedOutError(
            f"the cluster does not serve '{name}' {_SECONDS:g} s after its definition was applied",
            hint=f"look at it with: kubectl describe crd {name}",
        ) from e


async def _until_served(client: Client, path: str) -> None:
    while True:
        try:
            await retried(lambda: client.call("GET", path))
        except ApiError as e:
            if e.status != 404:
                raise
        else:
            return
        await asyncio.sleep(_POLL)
