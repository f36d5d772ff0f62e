"""An object of a running cluster, and the Stages that its controller plays."""

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from kwokctl.clusters.launching.custom_resources import enabled_kinds
from kwokctl.clusters.stage_tools.sources import documents_from
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.saved import load
from kwokctl.config.config_documents import Document
from kwokctl.config.document_kinds import API_VERSIONS
from kwokctl.config.nearest import did_you_mean
from kwokctl.controller.documents.stage_documents import KIND as STAGE
from kwokctl.controller.documents.stage_documents import StageLibrary, stages_of_files
from kwokctl.controller.stages.stage_reader import read_stages
from kwokctl.errors import UsageError
from kwokctl.json_value import Json
from kwokctl.kube.client import Client
from kwokctl.kube.collections.paging import ListQuery, list_pages
from kwokctl.kube.kubeconfig.access import load_access
from kwokctl.kube.names import is_label_value
from kwokctl.kube.resource import KNOWN, Resource
from kwokctl.kube.served_kinds import served_kinds
from kwokctl.kube.transport.pool import Pool
from kwokctl.model import ClusterName


class Target(NamedTuple):
    """An object, as a user names it."""

    kind: str
    name: str
    namespace: str


def documents_of_cluster(
    home: Home, name: ClusterName, custom: Mapping[str, Json] | None = None
) -> list[Document]:
    """Return the Stages of a cluster, as its controller reads them.

    The `custom` resources take the place of those in its file; one that is wrong is left out, with
    a warning.
    """
    saved = load(home.paths(name), name)
    documents = documents_from(saved.stages, str(home.paths(name).saved))
    if not custom:
        return documents
    bodies = [document.body for document in documents]
    found = StageLibrary(stages_of_files(read_stages(documents), bodies)).update(custom)
    for stage, problem in found.refused.items():
        home.progress.warn(f"the Stage '{stage}' of the cluster is left out: {problem}")
    return documents_from((each.body for each in found.in_force.values()), "the cluster")


def has_custom_stages(home: Home, name: ClusterName) -> bool:
    """Return whether Stages of a cluster may be custom resources."""
    return STAGE in enabled_kinds(load(home.paths(name), name))


async def custom_stages_of_cluster(home: Home, name: ClusterName) -> Mapping[str, Json]:
    """Return the Stages of a cluster that are custom resources, by name."""
    async with Pool(load_access(home.paths(name).kubeconfig)) as pool:
        query = ListQuery(resource=await Client(pool).resource_for(API_VERSIONS[STAGE], STAGE))
        bodies = [
            msgspec.json.decode(each)
            async for page in list_pages(pool, query)
            for each in page.objects
        ]
    return {body["metadata"]["name"]: body for body in bodies}


def target_of(words: str, namespace: str) -> Target:
    """Return what `KIND/NAME` names; UsageError for a word that is not of this form."""
    kind, _, name = words.partition("/")
    if not (kind and name and is_label_value(kind)) or "/" in name:
        raise UsageError(f"'{words}' names no object", hint="write KIND/NAME, such as pod/web-0")
    return Target(kind, name, namespace)


async def object_of_cluster(home: Home, name: ClusterName, target: Target) -> Json:
    """Return an object as it is now; ApiError if it does not exist, UsageError for an unknown kind."""
    load(home.paths(name), name)
    async with Pool(load_access(home.paths(name).kubeconfig)) as pool:
        return await object_at(Client(pool), target)


async def object_at(client: Client, target: Target) -> Json:
    """Return an object as a client reads it; errors as in `object_of_cluster`."""
    resource = _known(target.kind) or await _served(client, target.kind)
    return await client.get(
        resource, target.namespace if resource.namespaced else None, target.name
    )


def _known(word: str) -> Resource | None:
    low = word.lower()
    return next((each for each in KNOWN if low in (each.kind.lower(), each.plural)), None)


async def _served(client: Client, word: str) -> Resource:
    """Find a kind by any of its names, as kubectl does: `po`, `widget`, `widgets.example.com`."""
    served = await served_kinds(client)
    found = served.find(word)
    if found is None:
        names = (name for kind in served.all for name in kind.names)
        hint = did_you_mean(word, names) or "'kubectl api-resources' lists the kinds"
        raise UsageError(f"the cluster serves no kind '{word}'", hint=hint)
    return found.resource
