"""Patches computed here are what the API server makes of them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random

import pytest

from kwokctl.controller.in_memory.at_once import WORDS, check_changes
from kwokctl.json_value import Json
from kwokctl.kube.client import Client, PatchType
from kwokctl.kube.patching import strategic_merge
from kwokctl.kube.patching.apply_patch import apply_patch
from kwokctl.kube.patching.managed_fields import (
    STATUS_KEYS,
    after_metadata_update,
    after_status_update,
)
from kwokctl.kube.patching.merge_keys import LISTS, Fields, ListRule
from kwokctl.kube.patching.unknown_patch import UnknownPatchError
from kwokctl.kube.resource import NODES, PODS, Resource
from kwokctl.kube.transport.request_encoder import JSON
from tests.support.client_writes import patch as write_patch
from tests.support.direct import answer, ask, encoded
from tests.support.installed import Installed
from tests.support.random_patches import (
    NODE,
    POD,
    POD_STATUS,
    metadata_patch,
    node_status_patch,
    pod_spec_patch,
    pod_status_patch,
    steps_from,
)

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.timeout(600, func_only=True),
]

Maker = Callable[[Random], Json]
Apply = Callable[[Json, Json], Json]

POD_TEMPLATES = Resource("", "v1", "podtemplates", "PodTemplate", namespaced=True)
"""Unlike a pod's own, the spec in a template may be patched at will."""

TRIES = 100


@pytest.fixture(scope="module")
def cluster(storage: Installed) -> Iterator[Installed]:
    async def fill(client: Client) -> None:
        template = {"metadata": {"name": "patched"}, "template": {"spec": POD["spec"]}}
        await client.create(NODES, None, encoded(NODE))
        await client.create(PODS, "default", encoded(POD))
        await client.create(POD_TEMPLATES, "default", encoded(template))
        status = encoded({"status": POD_STATUS})
        await write_patch(
            client, PODS, "default", "patched", status, PatchType.MERGE, subresource="status"
        )

    ask(storage, fill)
    yield storage
    made = ("node/patched", "pod/patched", "podtemplate/patched")
    storage.patch(*made, "--type=merge", "-p", '{"metadata":{"finalizers":null}}')
    storage.delete(*made, "--force")


class Comparison:
    """Has the server apply patches, and store what was computed here if that is not the same; nothing is kept."""

    def __init__(self, client: Client, resource: Resource, subresource: str = "") -> None:
        self._client = client
        namespace = "default" if resource.namespaced else None
        self._path = resource.path(namespace, "patched", subresource) + "?dryRun=All"
        self._current = client.get(resource, namespace, "patched")

    async def alike(self, make: Callable[[Json], Json], patch_type: PatchType, apply: Apply) -> int:
        """Compare many patches; return how many the server has accepted."""
        current = await self._current
        alike = 0
        for _ in range(TRIES):
            patch = make(current)
            try:
                computed = apply(current, patch)
            except UnknownPatchError:
                continue
            theirs = await self._send("PATCH", patch, patch_type.value)
            if theirs[0] == 200 and theirs[1] == _settled(computed):
                alike += 1
                continue
            # What an API server completes or refuses, it does to both.
            ours = await self._send("PUT", computed, JSON)
            assert ours == theirs, f"current: {current}\npatch: {patch}"
            alike += ours[0] == 200
        return alike

    async def _send(self, method: str, body: Json, content_type: str) -> tuple[int, Json]:
        call = self._client.call(method, self._path, encoded(body), content_type=content_type)
        status, found = await answer(call)
        return status, _settled(found) if status == 200 else None


def _settled(found: Json) -> Json:
    """Return an object without what an API server counts and keeps for itself."""
    own = ("managedFields", "generation")
    kept = {name: value for name, value in found["metadata"].items() if name not in own}
    return {**found, "metadata": kept}


CASES: Mapping[str, tuple[Resource, str, Maker]] = {
    "node": (NODES, "", metadata_patch),
    "node status": (NODES, "status", node_status_patch),
    "pod": (PODS, "", metadata_patch),
    "pod status": (PODS, "status", pod_status_patch),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("patch_type", [PatchType.STRATEGIC, PatchType.MERGE, PatchType.JSON])
def test_random_patches_give_what_the_server_makes_of_them(
    cluster: Installed, case: str, patch_type: PatchType
) -> None:
    resource, subresource, make = CASES[case]
    random = Random(case + patch_type)

    def patch(current: Json) -> Json:
        made = make(random)
        return steps_from(random, current, made) if patch_type is PatchType.JSON else made

    def apply(current: Json, patch: Json) -> Json:
        return apply_patch(current, patch, patch_type, resource.kind)

    async def compare(client: Client) -> int:
        return await Comparison(client, resource, subresource).alike(patch, patch_type, apply)

    assert ask(cluster, compare) > TRIES / 2


def test_random_strategic_patches_of_a_pod_spec_give_what_the_server_makes_of_them(
    cluster: Installed,
) -> None:
    random = Random("pod spec")

    def patch(_: Json) -> Json:
        return {"template": {"spec": pod_spec_patch(random)}}

    def apply(current: Json, patch: Json) -> Json:
        return strategic_merge.merge(current, patch, {"template": LISTS["Pod"]})

    async def compare(client: Client) -> int:
        return await Comparison(client, POD_TEMPLATES).alike(patch, PatchType.STRATEGIC, apply)

    assert ask(cluster, compare) > TRIES / 2


@pytest.mark.parametrize("case", ["node status", "pod status"])
def test_fields_belong_to_whom_the_server_says_after_random_patches(
    cluster: Installed, case: str
) -> None:
    resource, subresource, make = CASES[case]
    random = Random(case)
    manager = "another"
    namespace = "default" if resource.namespaced else None
    path = f"{resource.path(namespace, 'patched', subresource)}?dryRun=All&fieldManager={manager}"

    async def compare(client: Client) -> int:
        current = await client.get(resource, namespace, "patched")
        alike = 0
        for _ in range(TRIES):
            patch = make(random)
            body, strategic = encoded(patch), PatchType.STRATEGIC
            call = client.call("PATCH", path, body, content_type=strategic.value)
            status, theirs = await answer(call)
            if status != 200:
                continue
            try:
                changed = apply_patch(current, patch, strategic, resource.kind)
                ours = after_status_update(current, changed, resource.kind, manager=manager, now="")
            except UnknownPatchError:
                continue
            assert _owned(ours) == _owned(theirs["metadata"]["managedFields"]), patch
            alike += 1
        return alike

    assert ask(cluster, compare) > TRIES / 2


@pytest.mark.parametrize("case", ["node", "pod"])
def test_labels_and_annotations_belong_to_whom_the_server_says_and_are_accepted(
    cluster: Installed, case: str
) -> None:
    resource, _, make = CASES[case]
    random = Random(case)
    manager = "another"
    namespace = "default" if resource.namespaced else None
    path = f"{resource.path(namespace, 'patched')}?dryRun=All&fieldManager={manager}"

    async def compare(client: Client) -> int:
        current = await client.get(resource, namespace, "patched")
        alike = 0
        for _ in range(5 * TRIES):
            words = make(random).get("metadata") or {}
            patch = {"metadata": {name: words[name] for name in WORDS if name in words}}
            try:
                changed = apply_patch(current, patch, PatchType.MERGE, resource.kind)
                check_changes(current, changed, "")
                ours = after_metadata_update(current, changed, manager=manager, now="")
            except UnknownPatchError:
                continue
            merge = PatchType.MERGE.value
            call = client.call("PATCH", path, encoded(patch), content_type=merge)
            status, theirs = await answer(call)
            assert status == 200, patch
            assert _owned(ours) == _owned(theirs["metadata"]["managedFields"]), patch
            alike += changed is not current
        return alike

    assert ask(cluster, compare) > TRIES / 4


def _owned(entries: Sequence[Json]) -> Json:
    return {(each["manager"], each.get("subresource", "")): each["fieldsV1"] for each in entries}


@pytest.mark.parametrize("kind", ["Node", "Pod"])
def test_every_list_of_a_status_whose_items_have_owners_is_known(
    cluster: Installed, kind: str
) -> None:
    async def schemas(client: Client) -> Json:
        return (await answer(client.call("GET", "/openapi/v3/api/v1")))[1]["components"]["schemas"]

    published = _keyed(ask(cluster, schemas), f"io.k8s.api.core.v1.{kind}Status")

    assert dict(published) == STATUS_KEYS[kind]


def _keyed(schemas: Json, schema: str) -> Iterator[tuple[str, str]]:
    for name, field in schemas[schema].get("properties", {}).items():
        inner = _reference(field.get("items", field))
        keys = field.get("x-kubernetes-list-map-keys")
        if keys:
            yield name, ",".join(keys)
        if inner and (keys or field.get("type") != "array"):
            yield from _keyed(schemas, inner)


@pytest.mark.parametrize("kind", ["Node", "Pod"])
def test_every_list_of_the_api_is_known_with_its_merge_key(cluster: Installed, kind: str) -> None:
    async def schemas(client: Client) -> Json:
        return (await answer(client.call("GET", "/openapi/v3/api/v1")))[1]["components"]["schemas"]

    published = _published(ask(cluster, schemas), f"io.k8s.api.core.v1.{kind}", "")

    assert dict(_known(LISTS[kind], "")) == dict(published)


def _known(fields: Fields, path: str) -> Iterator[tuple[str, str | None]]:
    for name, rule in fields.items():
        if isinstance(rule, ListRule):
            yield f"{path}.{name}", rule.key
            yield from _known(rule.fields, f"{path}.{name}[]")
        else:
            yield from _known(rule, f"{path}.{name}")


def _published(schemas: Json, schema: str, path: str) -> Iterator[tuple[str, str | None]]:
    for name, field in schemas[schema].get("properties", {}).items():
        inner = _reference(field.get("items", field))
        is_merged = "merge" in field.get("x-kubernetes-patch-strategy", "")
        if field.get("type") == "array":
            key = field.get("x-kubernetes-patch-merge-key", "") if is_merged else None
            yield f"{path}.{name}", key
            if inner and is_merged:
                yield from _published(schemas, inner, f"{path}.{name}[]")
        elif inner:
            yield from _published(schemas, inner, f"{path}.{name}")


def _reference(schema: Json) -> str:
    """Return the name of the schema that a schema refers to; empty if it is one itself."""
    named = [schema, *schema.get("allOf", [])]
    found = next((each["$ref"] for each in named if "$ref" in each), "")
    return str(found).rpartition("/")[2]
