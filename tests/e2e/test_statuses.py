"""The types of statuses known here are those of the API server, and it decodes whatever they let pass."""

from collections.abc import Iterator
from functools import partial
from random import Random

import msgspec
import pytest

from kwokctl.json_value import Json
from kwokctl.kube.client import Client
from kwokctl.kube.collections.paging import ListQuery, list_pages
from kwokctl.kube.resource import NODES, PODS, Resource
from kwokctl.kube.statuses import check_status
from kwokctl.kube.statuses.decodable import TYPES
from tests.support.direct import answer, ask, encoded
from tests.support.installed import Installed
from tests.support.random_shapes import ODD, places, random_object

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.timeout(600, func_only=True),
]


TRIES = 150
STORED = 50
_FOLDERS = {
    NODES: "/registry/minions/",
    PODS: "/registry/pods/default/",
}

DOCUMENT = "/openapi/v3/api/v1"
CORE = "io.k8s.api.core.v1."
ROOTS = (f"{CORE}NodeStatus", f"{CORE}PodStatus")

resources = pytest.mark.parametrize("resource", [NODES, PODS], ids=lambda r: r.kind)


def test_every_type_has_exactly_the_fields_that_the_api_server_publishes(
    storage: Installed,
) -> None:
    async def schemas(client: Client) -> Json:
        return (await answer(client.call("GET", DOCUMENT)))[1]["components"]["schemas"]

    known = {
        f"{name}.{field}: {_as_published(word)}"
        for name, fields in TYPES.items()
        for field, word in fields.items()
    }
    published = set(_fields(ask(storage, schemas), ROOTS))

    assert sorted(published - known) == []
    assert sorted(known - published) == []


@resources
def test_the_api_server_decodes_whatever_is_right_here(
    storage: Installed, resource: Resource
) -> None:
    random = Random(resource.kind)

    async def post(client: Client) -> None:
        for _ in range(TRIES):
            status = random_object(random, TYPES, f"{resource.kind}Status")
            assert check_status(resource, encoded(status)) is None, status
            await _assert_is_decoded(client, resource, status)

    ask(storage, post)


@resources
def test_the_api_server_shows_what_is_right_here_when_it_finds_it_in_etcd(
    storage: Installed, resource: Resource
) -> None:
    random = Random(f"stored {resource.kind}")
    stored: dict[str, Json] = {}
    for name in (f"stored{number}" for number in range(STORED)):
        status = random_object(random, TYPES, f"{resource.kind}Status")
        stored[name] = _object(resource, status, name)
        stored[name]["metadata"]["uid"] = name
    puts = [f"put {_FOLDERS[resource]}{name} {_quoted(made)}" for name, made in stored.items()]

    said = storage.ok("etcdctl", "txn", stdin="\n" + "\n".join(puts) + "\n\n\n")

    try:
        assert said.count("OK") == STORED
        assert ask(storage, partial(_names, resource=resource)) >= stored.keys()
    finally:
        storage.ok("etcdctl", "del", "--prefix", f"{_FOLDERS[resource]}stored")


async def _names(client: Client, *, resource: Resource) -> set[str]:
    """Return the names of all objects, from a list that must be read from etcd to be made."""
    pages = list_pages(
        client.pool, ListQuery(resource=resource, namespace="default"), limit=STORED // 2
    )
    return {
        item["metadata"]["name"]
        async for page in pages
        for item in map(msgspec.json.decode, page.objects)
    }


def _quoted(made: Json) -> str:
    """Return JSON as a word of etcdctl."""
    return encoded(encoded(made).decode()).decode()


@resources
def test_whatever_the_api_server_does_not_decode_is_wrong_here(
    storage: Installed, resource: Resource
) -> None:
    random = Random(f"odd {resource.kind}")

    async def post(client: Client) -> int:
        wrong = 0
        for _ in range(TRIES * 3):
            status = _with_one_odd_value(random, resource)
            if check_status(resource, encoded(status)) is None:
                await _assert_is_decoded(client, resource, status)
            else:
                wrong += 1
        return wrong

    assert ask(storage, post) > TRIES


async def _assert_is_decoded(client: Client, resource: Resource, status: Json) -> None:
    """Post an object; it may be refused as invalid, but not as one that cannot be read: 400."""
    namespace = "default" if resource.namespaced else None
    path = resource.path(namespace) + "?dryRun=All&fieldValidation=Strict"
    body = encoded(_object(resource, status, "x"))
    code, said = await answer(client.call("POST", path, body))
    assert code != 400, f"{code} {said}\n{body.decode()}"


def _object(resource: Resource, status: Json, name: str) -> Json:
    metadata = {"name": name} | ({"namespace": "default"} if resource.namespaced else {})
    containers = [{"name": "c", "image": "i"}]
    return {
        "apiVersion": "v1",
        "kind": resource.kind,
        "metadata": metadata,
        "spec": {"containers": containers} if resource == PODS else {},
        "status": status,
    }


def _with_one_odd_value(random: Random, resource: Resource) -> Json:
    made = random_object(random, TYPES, f"{resource.kind}Status")
    container, key = random.choice(list(places(made)))
    container[key] = random.choice(ODD)
    return made


def _as_published(word: str) -> str:
    """Return a type without what only validation asks for."""
    for ours in ("AddressIfAny", "Address"):
        if word.strip("[]") == ours:
            return word.replace(ours, "str")
    return word


_LEAVES = {"Time", "Quantity"}


def _fields(schemas: Json, roots: tuple[str, ...]) -> Iterator[str]:
    """Yield the fields of types and of all that they contain."""
    waiting, seen = list(roots), set(roots)
    while waiting:
        name = waiting.pop()
        for field, schema in schemas[name].get("properties", {}).items():
            yield f"{_short(name)}.{field}: {_word(schema)}"
            inner = _reference(schema.get("items") or schema.get("additionalProperties") or schema)
            if inner and _short(inner) not in _LEAVES and inner not in seen:
                seen.add(inner)
                waiting.append(inner)


def _word(schema: Json) -> str:
    """Return a type as our tables write it."""
    if name := _reference(schema):
        return _short(name)
    match schema["type"]:
        case "array":
            return f"[{_word(schema['items'])}]"
        case "object":
            return f"{{{_word(schema['additionalProperties'])}}}"
        case "integer":
            return str(schema["format"])
        case plain:
            return {"string": "str", "boolean": "bool"}[plain]


def _reference(schema: Json) -> str:
    """Return the name of the schema that a schema refers to; empty if it is one itself."""
    found = (each["$ref"] for each in [schema, *schema.get("allOf", [])] if "$ref" in each)
    return str(next(found, "")).rpartition("/")[2]


def _short(name: str) -> str:
    """Return a type's name in our tables."""
    return name.rpartition(".")[2]
