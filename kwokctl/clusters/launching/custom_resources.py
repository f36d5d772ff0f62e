"""Lets a cluster serve the kinds of documents that are custom resources, too."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from kwokctl import assets
from kwokctl.clusters.objects.apply import apply_all
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.kept_documents import controller_options
from kwokctl.clusters.state.saved import Saved
from kwokctl.components.definitions.kwok_controller import KwokControllerOptions
from kwokctl.config.document_kinds import FAULT, REPAIR
from kwokctl.expr import yaml
from kwokctl.json_value import Json
from kwokctl.kube.client import Client
from kwokctl.kube.kubeconfig.access import load_access
from kwokctl.kube.transport.pool import Pool
from kwokctl.progress import Progress
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
    async with Pool(load_access(home.paths(saved.name).own_kubeconfig)) as pool:
        await install(bodies, Client(pool), home.progress)


async def install(bodies: Sequence[dict[str, Json]], client: Client, progress: Progress) -> None:
    """Apply CustomResourceDefinitions, and wait until they are served. Safe to repeat."""
    kinds = [str(body["spec"]["names"]["kind"]) for body in bodies]
    plural = "s" if len(kinds) > 1 else ""
    title = f"Installing the CustomResourceDefinition{plural} of {', '.join(kinds)}"
    with progress.step(title, total=len(bodies), unit="kinds") as step:

        async def one(body: dict[str, Json]) -> None:
            await apply_all(client, [body])
            step.advance()

        # The API server takes its time for each, and as long for all of them.
        await for_each(bodies, one, at_once=len(bodies))


def definitions(saved: Saved) -> Iterator[dict[str, Json]]:
    """Yield the definitions of the enabled kinds, as far as those are shipped."""
    yield from definitions_of(sorted(enabled_kinds(saved)))


def definitions_of(kinds: Iterable[str]) -> Iterator[dict[str, Json]]:
    """Yield the definitions of kinds, and of those that they need, each once, as far as those are shipped."""
    found = (each for kind in kinds for each in shipped_definition(kind))
    yield from {each["metadata"]["name"]: each for each in found}.values()


def shipped_definition(kind: str) -> Iterator[dict[str, Json]]:
    """Yield the definition of a kind, if there is one: those of a subject are in one file.

    With that of Fault come those of all kinds about faults, and with that of Repair those of Fault as well.
    """
    if kind in _WITH_OTHERS:
        yield from _WITH_OTHERS[kind]()
        return
    file = assets.path(f"crds/{kind.removeprefix('Cluster').lower()}.yaml")
    if file.is_file():
        yield from (each for each in _read(file) if each["spec"]["names"]["kind"] == kind)


def fault_definitions() -> Sequence[dict[str, Json]]:
    """Return the definitions of Fault and of the kinds that it needs."""
    return _read(assets.path(f"crds/{FAULT.lower()}.yaml"))


def repair_definitions() -> Sequence[dict[str, Json]]:
    """Return the definitions of Repair and of the kinds that it needs: a node under repair shows a Fault."""
    return [*fault_definitions(), *_read(assets.path(f"crds/{REPAIR.lower()}.yaml"))]


_WITH_OTHERS: Mapping[str, Callable[[], Sequence[dict[str, Json]]]] = {
    FAULT: fault_definitions,
    REPAIR: repair_definitions,
}


def _read(file: Path) -> Sequence[dict[str, Json]]:
    body = yaml.load(file.read_text(encoding="utf-8"))
    return body["items"] if body["kind"] == "List" else [body]
