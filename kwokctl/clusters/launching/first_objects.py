"""Creates the objects that a new cluster begins with: those of its components, and those that its Stages need."""

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

import orjson

from kwokctl.clusters.objects.apply import apply_all
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.saved import Saved
from kwokctl.components.custom_components import AUTHORITY
from kwokctl.components.definitions.kwok_controller import KwokControllerOptions
from kwokctl.components.heartbeat import heartbeat
from kwokctl.components.stage_sets import objects_of, sets_in_force
from kwokctl.errors import ApiError
from kwokctl.host.paths import ClusterPaths
from kwokctl.json_value import Json
from kwokctl.kube.client import Client
from kwokctl.kube.kubeconfig.access import load_access
from kwokctl.kube.resource import Resource
from kwokctl.kube.transport.pool import Pool
from kwokctl.model import Component
from kwokctl.retry import retried

_DEFAULT = "storageclass.kubernetes.io/is-default-class"
"""The annotation of the StorageClass of claims that name none."""


def first_objects(saved: Saved) -> Sequence[Json]:
    """Return the objects of the sets of Stages that are in force."""
    words = saved.options.of(KwokControllerOptions).stages
    return objects_of(sets_in_force(words, heartbeat(saved.options)))


async def create_first_objects(home: Home, saved: Saved) -> None:
    """Create the objects of the sets of Stages that are in force; those that exist stay as they are."""
    bodies = first_objects(saved)
    if not bodies:
        return
    async with Pool(load_access(home.paths(saved.name).own_kubeconfig)) as pool:
        client = Client(pool)
        for body in bodies:
            await retried(partial(_create, client, body))


async def _beside_others(client: Client, resource: Resource, body: Json) -> Json:
    """Return an object as it is in a cluster that has others: one StorageClass is the default one."""
    annotations: dict[str, str] = body["metadata"].get("annotations") or {}
    if _DEFAULT not in annotations:
        return body
    found = orjson.loads(await client.call("GET", resource.path()))
    if not any(map(_is_default, found.get("items") or ())):
        return body
    kept = {name: value for name, value in annotations.items() if name != _DEFAULT}
    return {**body, "metadata": {**body["metadata"], "annotations": kept}}


def _is_default(found: Json) -> bool:
    return bool((found["metadata"].get("annotations") or {}).get(_DEFAULT) == "true")


async def _create(client: Client, body: Json) -> None:
    resource = await client.resource_for(body["apiVersion"], body["kind"])
    body = await _beside_others(client, resource, body)
    try:
        await client.create(resource, None, orjson.dumps(body))
    except ApiError as e:
        if e.reason != "AlreadyExists":
            raise


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
