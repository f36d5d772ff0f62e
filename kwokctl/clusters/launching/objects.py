"""Puts into a cluster the objects that its components need there."""

from base64 import b64encode
from collections.abc import Iterable, Mapping

from kwokctl.clusters.objects.apply import apply_one
from kwokctl.host.paths import ClusterPaths
from kwokctl.json_value import Json
from kwokctl.kube.client import Client
from kwokctl.kube.kubeconfig.access import load_access
from kwokctl.kube.transport.pool import Pool
from kwokctl.model import Component

_AUTHORITY = "CA"
"""Stands in `caBundle` for the authority of the cluster, which is not known to descriptions."""


async def apply_objects(paths: ClusterPaths, components: Iterable[Component]) -> None:
    """Create the objects of components, or give them the form that they are to have.

    Raises ApiError when the API server, which must be ready, refuses one.
    """
    objects = [each for component in components for each in component.objects]
    if not objects:
        return
    async with Pool(load_access(paths.own_kubeconfig)) as pool:
        client = Client(pool)
        for each in objects:
            bundle = b64encode((paths.pki / "ca.crt").read_bytes()).decode()
            await apply_one(client, with_authority(each, bundle))


def with_authority(body: Mapping[str, Json], bundle: str) -> Mapping[str, Json]:
    """Return an object with the certificate of the cluster's authority where it wants that."""
    spec = body.get("spec") or {}
    if spec.get("caBundle") != _AUTHORITY:
        return body
    return {**body, "spec": {**spec, "caBundle": bundle}}
