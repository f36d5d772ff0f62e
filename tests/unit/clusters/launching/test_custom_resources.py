"""The CustomResourceDefinitions of the kinds that a controller reads as custom resources."""

import types
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
import orjson
import pytest

from kwokctl.clusters.launching.custom_resources import (
    enabled_kinds,
    install_definitions,
    shipped_definition,
)
from kwokctl.clusters.state.home import Home, cluster_name
from kwokctl.clusters.state.saved import Saved
from kwokctl.config.document_kinds import API_VERSIONS, KINDS, KWOK
from kwokctl.controller.stages import stage_schema
from kwokctl.host.paths import WorkDir
from kwokctl.kubelet.documents.lookup import PodSelector
from kwokctl.kubelet.logs.log_documents import LOGS
from kwokctl.kubelet.streams.stream_documents import ATTACHES, EXECS, FORWARDS
from kwokctl.kubelet.usage.metric_documents import MetricSpec
from kwokctl.kubelet.usage.usage_rules import USAGES
from kwokctl.kubelet.usage.usage_shape import UsageShape
from kwokctl.replacing import replace
from tests.support.fake_api_server import Reply, Request, serving
from tests.support.options import cluster_options
from tests.support.saved_cluster import save_cluster

NAME = cluster_name("kwok")


SHAPES: dict[str, tuple[dict[str, Any], str]] = {
    "Stage": ({"": stage_schema.StageSpecShape}, "Cluster"),
    "Metric": ({"": MetricSpec}, "Cluster"),
}
"""What is read of the spec of each kind, by the field that holds it, and the scope of the kind."""
for subject in (LOGS, ATTACHES, EXECS, FORWARDS, USAGES):
    entries = {f".{subject.entries}": list[subject.entry]}  # type: ignore[name-defined]  # a value
    SHAPES[subject.kind] = (entries, "Namespaced")
    SHAPES[subject.cluster_kind] = ({".selector": PodSelector, **entries}, "Cluster")


def definition(kind: str) -> dict[str, Any]:
    [found] = shipped_definition(kind)
    return found


@pytest.mark.parametrize("kind", KINDS[KWOK])
def test_every_kind_has_a_definition(kind: str) -> None:
    body = definition(kind)
    spec = body["spec"]
    [version] = spec["versions"]

    assert body["metadata"]["name"] == f"{spec['names']['plural']}.{spec['group']}"
    assert f"{spec['group']}/{version['name']}" == API_VERSIONS[kind]
    assert spec["names"]["kind"] == kind
    assert spec["names"]["listKind"] == f"{kind}List"
    assert spec["scope"] == SHAPES[kind][1]
    assert version["subresources"] == {"status": {}}
    assert version["schema"]["openAPIV3Schema"]["properties"]["status"]["properties"]["conditions"]


def fields_of(type_: Any, path: str) -> Iterator[str]:
    """Yield the path of each field of a shape that is read, and the words that it may have."""
    origin, words = get_origin(type_), get_args(type_)
    if origin is Annotated:
        yield from fields_of(words[0], path)
    elif origin in {Union, types.UnionType}:
        for each in words:
            yield from fields_of(each, path)
    elif origin in {list, tuple}:
        yield from fields_of(words[0], f"{path}[]")
    elif origin is dict and path.endswith(".usage"):
        # The class reads the values itself, to name the resource of one that is wrong.
        yield from fields_of(UsageShape, f"{path}{{}}")
    elif origin is Literal:
        yield f"{path} {sorted(words)}"
    elif isinstance(type_, type) and issubclass(type_, msgspec.Struct):
        hints = get_type_hints(type_)
        for field in msgspec.structs.fields(type_):
            yield f"{path}.{field.encode_name}"
            yield from fields_of(hints[field.name], f"{path}.{field.encode_name}")


def fields_served(body: dict[str, Any], path: str) -> Iterator[str]:
    """Yield the same of the definition's schema."""
    if "enum" in body:
        yield f"{path} {sorted(body['enum'])}"
    if "items" in body:
        yield from fields_served(body["items"], f"{path}[]")
    if isinstance(body.get("additionalProperties"), dict):
        yield from fields_served(body["additionalProperties"], f"{path}{{}}")
    for name, field in body.get("properties", {}).items():
        yield f"{path}.{name}"
        yield from fields_served(field, f"{path}.{name}")


@pytest.mark.parametrize("kind", SHAPES)
def test_a_definition_has_the_fields_that_are_read_and_no_others(kind: str) -> None:
    [version] = definition(kind)["spec"]["versions"]
    spec = version["schema"]["openAPIV3Schema"]["properties"]["spec"]
    shapes, _ = SHAPES[kind]
    read = [field for path, shape in shapes.items() for field in fields_of(shape, path)]

    assert sorted(fields_served(spec, "")) == sorted([*read, *filter(None, shapes)])


def saved(folder: Path, **options: Any) -> tuple[Home, Saved]:
    home = Home(workdir=WorkDir(folder), cache=folder)
    return home, save_cluster(home.workdir, NAME, cluster_options(runtime="fake", **options))


def test_kinds_are_enabled_by_the_cluster_and_by_the_controllers_documents(tmp_path: Path) -> None:
    _, plain = saved(tmp_path)
    options = {"kind": "KwokConfiguration", "options": {"enableCRDs": ["Stage"]}}

    assert enabled_kinds(plain) == set()
    assert enabled_kinds(replace(plain, kept=(options,))) == {"Stage"}
    assert enabled_kinds(saved(tmp_path, enable_crds=("Stage",))[1]) == {"Stage"}


async def test_definitions_are_applied_and_waited_for(tmp_path: Path) -> None:
    home, cluster = saved(tmp_path, enable_crds=("Stage",))
    asked: list[Request] = []
    version = "kwok.x-k8s.io/v1alpha1"

    async def handle(request: Request, reply: Reply) -> None:
        asked.append(request)
        if request.method == "GET" and len(asked) < 4:
            await reply.refuse(404, "NotFound", "not yet")
        elif request.path == "/apis":
            await reply.json({"groups": [{"versions": [{"groupVersion": version}]}]})
        else:
            await reply.json({"resources": [{"name": "stages"}]})

    async with serving(handle) as server:
        home.paths(NAME).kubeconfig.write_text(kubeconfig(server.url))
        await install_definitions(home, cluster)

    first, *others = asked
    assert (first.method, first.headers["content-type"]) == (
        "PATCH",
        "application/apply-patch+yaml",
    )
    assert first.path.endswith("/customresourcedefinitions/stages.kwok.x-k8s.io")
    assert orjson.loads(first.body) == definition("Stage")
    lists = [f"/apis/{version}", "/apis"]
    assert [each.path for each in others] == [*[f"/apis/{version}/stages"] * 3, *lists]


async def test_nothing_is_applied_where_no_kind_is_enabled(tmp_path: Path) -> None:
    home, cluster = saved(tmp_path)

    await install_definitions(home, cluster)


def kubeconfig(url: str) -> str:
    return f"""
apiVersion: v1
kind: Config
current-context: a
clusters: [{{name: a, cluster: {{server: "{url}"}}}}]
contexts: [{{name: a, context: {{cluster: a, user: a}}}}]
users: [{{name: a, user: {{}}}}]
"""
