"""An object of a running cluster, and the Stages that its controller plays."""

from collections.abc import Mapping

import msgspec

from kwokctl.clusters.launching.custom_resources import enabled_kinds
from kwokctl.clusters.stage_tools.sources import documents_from
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.saved import load
from kwokctl.config.documents import Document
from kwokctl.config.kinds import API_VERSIONS
from kwokctl.controller.documents.stages import KIND as STAGE
from kwokctl.controller.documents.stages import StageLibrary, stages_of_files
from kwokctl.controller.stages.reader import read_stages
from kwokctl.dataplane.port import ObjectKey
from kwokctl.errors import UsageError
from kwokctl.json_value import Json
from kwokctl.kube.client import Client
from kwokctl.kube.collections.paging import ListQuery, list_pages
from kwokctl.kube.kubeconfig.access import load_access
from kwokctl.kube.resource import KNOWN, Resource
from kwokctl.kube.transport.pool import Pool
from kwokctl.model import ClusterName


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


def key_of(target: str, namespace: str) -> ObjectKey:
    """Return the key of `KIND/NAME`; UsageError if there is no name, or the kind is unknown."""
    kind, _, name = target.partition("/")
    resource = _resource(kind)
    if resource is None or not name:
        raise UsageError(
            f"'{target}' names no object",
            hint="write KIND/NAME, such as pod/web-0; give objects of other kinds with --object",
        )
    return ObjectKey(resource, namespace if resource.namespaced else None, name)


async def object_of_cluster(home: Home, name: ClusterName, key: ObjectKey) -> Json:
    """Return an object as it is now; ApiError if there is none."""
    load(home.paths(name), name)
    async with Pool(load_access(home.paths(name).kubeconfig)) as pool:
        return await Client(pool).get(key.resource, key.namespace, key.name)


def _resource(word: str) -> Resource | None:
    """Find a kind by its name, as kubectl does: `Pod`, `pod` or `pods`."""
    low = word.lower()
    return next((each for each in KNOWN if low in (each.kind.lower(), each.plural)), None)
