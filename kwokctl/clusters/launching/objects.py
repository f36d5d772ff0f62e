"""Puts into a cluster the objects that its components need there."""

from base64 import b64encode
from collections.abc import Iterable, Mapping

from kwokctl.clusters.objects.apply import apply_all
from kwokctl.components.custom_components import AUTHORITY
from kwokctl.host.paths import ClusterPaths
from kwokctl.json_value import Json
from kwokctl.kube.client import Client
from kwokctl.kube.kubeconfig.access import load_access
from kwokctl.kube.transport.pool import Pool
from kwokctl.model import Component


async def apply_objects(paths: ClusterPaths, components: Iterable[Component]) -> None:
    """Create the objects of components, or give them the form that they are to have.

    Raises ApiError when the API server, which must be ready, refuses one.
    """
    objects = [each for component in components for each in component.objects]
    if not objects:
        return
    bundle = b64encode((paths.pki / "ca.crt").read_bytes()).decode()
    async with Pool(load_access(paths.own_kubeconfig)) as pool:
        await apply_all(Client(pool), [with_authority(each, bundle) for each in objects])


def with_authority(body: Mapping[str, Json], bundle: str) -> Mapping[str, Json]:
    """Return an object with the certificate of the cluster's authority where it wants that."""
    found: Mapping[str, Json] = _certified(body, bundle)
    return found


def _certified(value: Json, bundle: str) -> Json:
    if isinstance(value, Mapping):
        if value.get("caBundle") == AUTHORITY:
            value = {**value, "caBundle": bundle}
        return {key: _certified(item, bundle) for key, item in value.items()}
    return [_certified(item, bundle) for item in value] if isinstance(value, list) else value
