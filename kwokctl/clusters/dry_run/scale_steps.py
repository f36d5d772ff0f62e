"""The dry run of `scale`, in comments: the numbers of objects that it would create and delete."""

import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from pathlib import Path

from kwokctl.clusters.dry_run.lifecycle_steps import Steps
from kwokctl.clusters.scaling.changes import Changes, changes_for
from kwokctl.clusters.scaling.cluster_reader import ClusterApiReader, members_of
from kwokctl.clusters.scaling.companions import described
from kwokctl.clusters.scaling.objects.parameters import NAME, SetParameters, as_options
from kwokctl.clusters.scaling.objects.render import Renderer
from kwokctl.clusters.scaling.objects.stored_texts import ClusterTexts
from kwokctl.clusters.scaling.scale_request import ScaleRequest
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.resource_templates import (
    ResourceTemplate,
    find_template,
    template_name,
    templates_for,
)
from kwokctl.clusters.state.saved import load
from kwokctl.config.config_documents import Document
from kwokctl.errors import RequestError, UnavailableError
from kwokctl.faults.classes.catalogue import FaultCatalogue
from kwokctl.json_value import Json
from kwokctl.kube.client import Client
from kwokctl.kube.kubeconfig.access import load_access
from kwokctl.kube.resource import Resource
from kwokctl.kube.transport.pool import Pool
from kwokctl.model import ClusterName
from kwokctl.replacing import replace
from kwokctl.script.steps import Comment

_NAMED = 3
"""Objects whose names are given, if there are more."""


async def scale_steps(
    home: Home,
    name: ClusterName,
    request: ScaleRequest,
    *,
    documents: Sequence[Document],
    kubeconfig: Path | None,
) -> Steps:
    """Return what `scale` would do; where the cluster does not answer, how it is to be."""
    templates = templates_for(home, name, documents, elsewhere=kubeconfig is not None)
    request = replace(request, kind=template_name(templates, request.kind))
    template = find_template(templates, request.kind)
    wall = time.time  # noqa: TID251 - the clock itself: it is passed on from here
    renderer = Renderer(template, request, wall, faults=FaultCatalogue(documents))
    first = renderer.stamp(0)
    if kubeconfig is None:
        load(home.paths(name), name)
    try:
        async with Pool(load_access(kubeconfig or home.paths(name).own_kubeconfig)) as pool:
            words = [each async for each in _in_words(Client(pool), renderer, first, template)]
    except (RequestError, UnavailableError) as e:
        return (Comment(_goal(request)), Comment(f"The cluster does not answer: {e}"))
    return tuple(map(Comment, words))


async def _in_words(
    client: Client, renderer: Renderer, first: Mapping[str, Json], template: ResourceTemplate
) -> AsyncIterator[str]:
    """Yield what changes, the parameters of new objects, and their companions."""
    reader = ClusterApiReader(client)
    resource = await reader.resolve(first["apiVersion"], first["kind"])
    request = renderer.request.placed(resource, first)
    changes, parameters = await _changes(client, request, resource, template)
    for line in _numbers(request, changes, parameters):
        yield line
    renderer = renderer if request.params else renderer.edited(parameters.known)
    async for line in described(renderer, resource, reader, request.replicas):
        yield line


async def _changes(
    client: Client, request: ScaleRequest, resource: Resource, template: ResourceTemplate
) -> tuple[Changes, SetParameters]:
    """Return what changes, and what is remembered of the set."""
    reader = ClusterApiReader(client)
    namespace = request.namespace if resource.namespaced else None
    listed = reader.select(resource, namespace, members_of(request.set_name))
    changes = changes_for(request, [known async for known in listed])
    parameters = SetParameters(request, resource, ClusterTexts(client, NAME), template)
    await parameters.recall()
    return changes, parameters


def _goal(request: ScaleRequest) -> str:
    return f"Give the set '{request.set_name}' of {request.kind} {request.replicas:,} objects."


def _numbers(request: ScaleRequest, changes: Changes, parameters: SetParameters) -> Iterator[str]:
    yield _goal(request)
    there = len(changes.kept) + len(changes.surplus)
    yield f"It has {there:,}: {len(changes.missing):,} are created, {len(changes.surplus):,} deleted."
    if params := request.params or parameters.known:
        yield f"Parameters of new ones: {as_options(params)}"
    for former, numbers in parameters.former(changes.missing).items():
        names = ", ".join(map(request.object_name, numbers[:_NAMED]))
        more = f" and {len(numbers) - _NAMED:,} more" if len(numbers) > _NAMED else ""
        yield f"Parameters of {names}{more}, as before: {as_options(former) or 'none'}"
    if changes.missing:
        ends = request.object_name(changes.missing[0]), request.object_name(changes.missing[-1])
        yield f"Created: {' to '.join(dict.fromkeys(ends))}"
    if changes.surplus:
        ends = changes.surplus[0].name, changes.surplus[-1].name
        yield f"Deleted: {' to '.join(dict.fromkeys(ends))}"
