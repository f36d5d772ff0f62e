"""Puts into a cluster the objects that its components need there."""

from base64 import b64encode
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from kwokctl.host.paths import ClusterPaths
from kwokctl.json_value import Json
from kwokctl.kube.client import FIELD_MANAGER, Client, PatchType
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
            await _apply(client, _with_authority(each, paths.pki / "ca.crt"))


async def _apply(client: Client, body: Mapping[str, Json]) -> None:
    metadata = body["metadata"]
    resource = await client.resource_for(body["apiVersion"], body["kind"])
    path = resource.path(metadata.get("namespace"), metadata["name"])
    await client.call(
        "PATCH",
        f"{path}?fieldManager={FIELD_MANAGER}&force=true",
        msgspec.json.encode(body),
        content_type=PatchType.APPLY,
    )


def _with_authority(body: Mapping[str, Json], file: Path) -> Mapping[str, Json]:
    spec = body.get("spec") or {}
    if spec.get("caBundle") != _AUTHORITY:
        return body
    bundle = b64encode(file.read_bytes()).decode()
    return {**body, "spec": {**spec, "caBundle": bundle}}
