"""Lets a cluster serve the kinds of documents that are custom resources, too."""

from collections.abc import Iterator

from kwokctl import assets
from kwokctl.clusters.objects.apply import apply_all
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.kept_documents import controller_options
from kwokctl.clusters.state.saved import Saved
from kwokctl.components.definitions.kwok_controller import KwokControllerOptions
from kwokctl.expr import yaml
from kwokctl.json_value import Json
from kwokctl.kube.client import Client
from kwokctl.kube.kubeconfig.access import load_access
from kwokctl.kube.transport.pool import Pool
from kwokctl.tasks import for_each


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
                await apply_all(Client(pool), [body])
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
