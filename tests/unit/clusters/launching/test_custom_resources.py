"""The CustomResourceDefinitions of the kinds that a controller reads as custom resources."""

import types
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
import orjson
import pytest

from kwokctl.clusters.launching.custom_resources import (
    definitions_of,
    enabled_kinds,
    install_definitions,
    repair_definitions,
    shipped_definition,
)
from kwokctl.clusters.state.home import Home, cluster_name
from kwokctl.clusters.state.saved import Saved
from kwokctl.config.document_kinds import API_VERSIONS, KINDS, KWOK, OWN, WITH_FAULT, WITH_REPAIR
from kwokctl.controller.stages import stage_schema
from kwokctl.faults.classes.catalogue import FaultCatalogue
from kwokctl.faults.classes.class_parameters import parameters_of
from kwokctl.faults.classes.class_schema import FaultClassSpec, FaultDialectSpec
from kwokctl.faults.objects.fault_schema import FaultPageSpec, FaultSpec, FaultStatus
from kwokctl.faults.repairs.repair_schema import RepairSpec, RepairStatus
from kwokctl.faults.storms.schedule_schema import FaultScheduleSpec
from kwokctl.faults.storms.stored_schedule import ScheduleStatus
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


SHAPES_OF_FAULTS: dict[str, type[msgspec.Struct]] = {
    "Fault": FaultSpec,
    "FaultPage": FaultPageSpec,
    "FaultClass": FaultClassSpec,
    "FaultDialect": FaultDialectSpec,
    "FaultSchedule": FaultScheduleSpec,
    "Repair": RepairSpec,
}
"""What is read of the spec of each kind that comes with Fault or with Repair."""


def definition(kind: str) -> dict[str, Any]:
    [found] = shipped_definition(kind)
    return found


def definition_with_faults(kind: str) -> dict[str, Any]:
    [found] = [each for each in repair_definitions() if each["spec"]["names"]["kind"] == kind]
    return found


def schema(body: dict[str, Any]) -> dict[str, Any]:
    [version] = body["spec"]["versions"]
    found: dict[str, Any] = version["schema"]["openAPIV3Schema"]
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
    elif origin is dict and path:
        yield from fields_of(words[1], f"{path}{{}}")
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


@pytest.mark.parametrize("kind", SHAPES_OF_FAULTS)
def test_a_kind_that_comes_with_faults_has_the_fields_that_are_read(kind: str) -> None:
    body = definition_with_faults(kind)
    names = body["spec"]["names"]
    served = [*fields_served(schema(body)["properties"]["spec"], "")]
    if kind == "Fault":
        known = [each for each in served if each.startswith(".parameters.")]
        served = [each for each in served if each not in known]
        assert {each.removeprefix(".parameters.") for each in known} == parameters_of_classes()

    assert sorted(served) == sorted(fields_of(SHAPES_OF_FAULTS[kind], ""))
    assert body["metadata"]["name"] == f"{names['plural']}.kwokctl.dev"
    assert f"{body['spec']['group']}/{body['spec']['versions'][0]['name']}" == OWN
    assert body["spec"]["scope"] == "Cluster"


def parameters_of_classes() -> set[str]:
    """Return the names of the parameters of all built-in classes."""
    return {name for each in FaultCatalogue().classes() for name in parameters_of(each.spec)}


@pytest.mark.parametrize(("kind", "shape"), [("Fault", FaultStatus), ("Repair", RepairStatus)])
def test_a_status_has_the_fields_that_controllers_write(
    kind: str, shape: type[msgspec.Struct]
) -> None:
    status = schema(definition_with_faults(kind))["properties"]["status"]
    served, written = fields_served(status, ""), fields_of(shape, "")

    # Conditions have all fields that those of Kubernetes have.
    assert {*_without_conditions(served)} == {*_without_conditions(written)}


def _without_conditions(fields: Iterator[str]) -> Iterator[str]:
    return (each for each in fields if not each.startswith(".conditions[]"))


def test_the_status_of_a_schedule_has_the_fields_that_are_written() -> None:
    status = schema(definition_with_faults("FaultSchedule"))["properties"]["status"]

    assert {*fields_served(status, "")} == {*fields_of(ScheduleStatus, "")}


def test_with_faults_come_the_kinds_that_they_need() -> None:
    kinds = [each["spec"]["names"]["kind"] for each in shipped_definition("Fault")]

    assert sorted(kinds) == sorted(WITH_FAULT)
    assert not [*shipped_definition("FaultPage")]


def test_with_repairs_come_the_kinds_that_they_need_and_each_once() -> None:
    kinds = [each["spec"]["names"]["kind"] for each in definitions_of(["Fault", "Repair"])]

    assert sorted(kinds) == sorted([*WITH_FAULT, *WITH_REPAIR])


WORDS = {
    "type", "description", "properties", "additionalProperties", "items", "required", "enum", "format", "pattern",
    "minimum", "maximum", "exclusiveMinimum", "minLength", "maxLength", "minItems", "maxItems",
}  # fmt: skip
"""The words of schemas, beside the extensions of Kubernetes."""


def words_of(body: dict[str, Any]) -> Iterator[str]:
    yield from body
    for name in ("items", "additionalProperties"):
        if isinstance(body.get(name), dict):
            yield from words_of(body[name])
    for each in body.get("properties", {}).values():
        yield from words_of(each)


@pytest.mark.parametrize("kind", SHAPES_OF_FAULTS)
def test_a_schema_has_only_words_of_schemas(kind: str) -> None:
    """A description with a comma in braces would be two words, one of them unknown to the API server."""
    found = set(words_of(schema(definition_with_faults(kind))))

    assert {each for each in found if not each.startswith("x-kubernetes-")} <= WORDS


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
        own = home.paths(NAME).own_kubeconfig
        own.parent.mkdir(parents=True, exist_ok=True)
        own.write_text(kubeconfig(server.url))
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
