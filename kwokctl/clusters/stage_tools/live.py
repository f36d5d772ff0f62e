"""An object of a running cluster, and the Stages that its controller plays."""

from kwokctl.clusters.stage_tools.sources import documents_from
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.saved import load
from kwokctl.config.documents import Document
from kwokctl.dataplane.port import ObjectKey
from kwokctl.errors import UsageError
from kwokctl.json_value import Json
from kwokctl.kube.client import Client
from kwokctl.kube.kubeconfig.access import load_access
from kwokctl.kube.resource import KNOWN, Resource
from kwokctl.kube.transport.pool import Pool
from kwokctl.model import ClusterName


def documents_of_cluster(home: Home, name: ClusterName) -> list[Document]:
    """Return the Stages of a cluster, as its controller reads them."""
    saved = load(home.paths(name), name)
    return documents_from(saved.stages, str(home.paths(name).saved))


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
