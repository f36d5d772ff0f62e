"""The classes of faults and the dialects: those that come with kwokctl, and documents of users."""

import copy
from pathlib import Path
from typing import Any

import pytest

from kwokctl.config.config_documents import Document, load_documents
from kwokctl.errors import ConfigError, UsageError
from kwokctl.expr import yaml
from kwokctl.faults.classes.catalogue import FaultCatalogue
from kwokctl.faults.journal import JOURNAL
from tests.support.faults import CATALOGUE

WITH_BEHAVIOUR = (
    "not-ready", "unreachable", "silent", "reboot", "gpu-missing", "gpu-lost", "xid-13", "xid-31", "xid-48",
    "xid-63", "xid-74", "xid-79", "xid-94", "xid-95", "xid-109", "xid-119", "ib-port-down", "ib-link-flap",
    "leaf-down", "rack-power", "memory-pressure", "disk-pressure", "init-failed", "app-failed", "image-pull",
    "stuck-terminating", "maintenance",
)  # fmt: skip
MINE: dict[str, Any] = {
    "apiVersion": "kwokctl.dev/v1alpha1",
    "kind": "FaultClass",
    "metadata": {"name": "fan-failed"},
    "spec": {
        "summary": "A fan does not turn",
        "layer": "node",
        "scope": "node",
        "severity": "degraded",
        "causes": ["hardware"],
        "lifetime": "latched",
        "parameters": {
            "fan": {"about": "its number", "type": "integer", "default": 1, "maximum": 12}
        },
        "clearedBy": ["repair"],
        "signals": {
            "npd": [{"conditions": [{"type": "Fan", "reason": "Bad", "message": "{{.fan}}"}]}]
        },
    },
}


def document(body: dict[str, Any], kind: str = "FaultClass") -> Document:
    name = (body.get("metadata") or {}).get("name", "")
    return Document(
        kind=kind,
        api_version="kwokctl.dev/v1alpha1",
        name=name,
        body=body,
        source="my.yaml, document 1",
    )


def changed(path: str, value: Any) -> Document:
    """Return the document of a user in which a field has another value."""
    body = copy.deepcopy(MINE)
    place: Any = body
    *way, last = path.split(".")
    for step in way:
        place = place[int(step) if step.isdecimal() else step]
    place[last] = value
    return document(body)


@pytest.mark.parametrize("name", CATALOGUE.names)
def test_a_class_that_comes_with_kwokctl_is_checked_as_one_of_a_user_is(name: str) -> None:
    body: Any = copy.deepcopy(dict(CATALOGUE.find(name).document))
    found = FaultCatalogue([document(body)]).find(name)

    assert found == CATALOGUE.find(name)


def test_the_classes_are_there() -> None:
    assert len(CATALOGUE.names) >= 65
    assert set(WITH_BEHAVIOUR) <= set(CATALOGUE.names)
    assert set(CATALOGUE.dialect_names) == {
        "aks", "azurehpc", "device-plugin", "dgx", "dra", "eks", "gke", "kubelet", "npd", "nvsentinel",
    }  # fmt: skip


@pytest.mark.parametrize("name", CATALOGUE.names)
def test_each_parameter_of_a_class_is_used(name: str) -> None:
    found = CATALOGUE.find(name)
    text = yaml.dump(dict(found.document))

    assert [each for each in found.spec.parameters if f".{each}" not in text] == []


def test_numbers_in_names_are_ordered_by_their_value() -> None:
    xids = [each for each in CATALOGUE.names if each.startswith("xid-")]

    assert xids[:2] == ["xid-13", "xid-31"]
    assert xids == sorted(xids, key=lambda name: int(name.removeprefix("xid-")))


def test_each_class_of_a_dialect_has_conditions_that_differ_from_healthy_ones() -> None:
    dialects = {each.name: each.spec for each in CATALOGUE.dialects()}
    for found in CATALOGUE.classes():
        for name, signals in found.spec.signals.items():
            spec = dialects[name]
            healthy = {each.type: each for each in spec.conditions}
            for condition in (each for signal in signals for each in signal.conditions):
                status = condition.status or spec.bad_status
                other = healthy.get(condition.type)
                assert other is None or status != (other.status or _other(spec.bad_status)), (
                    found.name
                )


def _other(status: str) -> str:
    return "True" if status == "False" else "False"


def test_a_class_of_a_user_comes_first_and_replaces_one_of_the_same_name(tmp_path: Path) -> None:
    body = {**MINE, "metadata": {"name": "sdc"}}
    file = tmp_path / "mine.yaml"
    file.write_text(yaml.dump_all([body, MINE]))
    catalogue = FaultCatalogue(load_documents([str(file)]))

    assert catalogue.names[:2] == ["sdc", "fan-failed"]
    assert sorted(catalogue.names) == sorted([*CATALOGUE.names, "fan-failed"])
    assert catalogue.find("sdc").spec.summary == "A fan does not turn"


def test_a_dialect_of_a_user_can_be_used_in_a_class() -> None:
    mine = document(
        {"metadata": {"name": "fans"}, "spec": {"agent": "fan-watcher", "badStatus": "False"}},
        "FaultDialect",
    )
    catalogue = FaultCatalogue([mine, changed("spec.signals", {"fans": []})])

    assert catalogue.dialect_names[0] == "fans"
    assert catalogue.dialect("fans").spec.bad_status == "False"
    assert catalogue.find("fan-failed").spec.signals == {"fans": ()}


@pytest.mark.parametrize(
    ("path", "value", "problem", "hint"),
    [
        ("spec.severty", "x", "'spec.severty' is not a field of a FaultClass", "'severity'"),
        ("spec.layer", "gpuu", "'spec.layer' is 'gpuu'", "did you mean 'gpu'? choose from: api, fabric"),
        ("spec.causes", ["hardwar"], "'spec.causes[0]' is 'hardwar'", "'hardware'"),
        ("spec.causes", [], "'spec.causes' is wrong: expected 'array' of length >= 1", None),
        ("spec.summary", "", "'spec.summary' is wrong: expected 'str' of length >= 1", None),
        ("spec", None, "'spec' is wrong: expected 'object', got 'null'", None),
        ("speck", {}, "'speck' is not a field of a FaultClass", "did you mean 'spec'?"),
        ("spec.signals", {"akss": []}, "'spec.signals.akss' is 'akss', and there is no such dialect", "'aks'"),
        ("spec.signals", {"zzz": []}, "there is no such dialect", "there are: aks, azurehpc"),
        ("spec.signals.npd.0.condition", [], "'spec.signals.npd[0].condition' is not a field", "'conditions'"),
        ("spec.signals.npd.0.delay", "soon", "'spec.signals.npd[0].delay' is 'soon', not a duration", "1m30s"),
        ("spec.signals.npd.0.pollInterval", "-1s", "'spec.signals.npd[0].pollInterval' is '-1s'", "1m30s"),
        ("spec.signals.npd.0.annotations", {JOURNAL: ""}, "has the annotation 'kwokctl.dev/faults'", None),
        (
            "spec.signals.npd.0.taints", [{"key": "a", "effect": "NoSchedul"}],
            "'spec.signals.npd[0].taints[0].effect' is 'NoSchedul'", "'NoSchedule'",
        ),
        (
            "spec.signals.npd.0.conditions.0.message", "{{.fna}}",
            "'spec.signals.npd[0].conditions[0].message' names a value that no fault has", "there are: .fan, .node",
        ),
        (
            "spec.signals.npd.0.conditions.0.message", "{{.fan",
            "'spec.signals.npd[0].conditions[0].message' is no template", None,
        ),
        ("spec.cascades", [{"class": "xid-97", "hits": "node"}], "'spec.cascades[0].class' is 'xid-97'", "'xid-9"),
        (
            "spec.cascades", [{"class": "xid-79", "hits": "node", "after": "x"}],
            "'spec.cascades[0].after' is 'x', not a duration", "1m30s",
        ),
        (
            "spec.cascades", [{"class": "xid-79", "hits": "unit-nodes"}],
            "'spec.cascades[0].hits' is 'unit-nodes' for classes with a 'unit'", None,
        ),
        ("spec.effects", {"workload": {"effect": "hang", "after": "x"}}, "'spec.effects.workload.after' is 'x'", "1m30s"),
        ("spec.scope", "fabric", "'spec.unit' is needed for the scope 'fabric'", None),
        ("spec.unit", "rack", "'spec.unit' is needed for the scope 'fabric', and for no other", None),
        ("spec.parameters.fan.default", 13, "'spec.parameters.fan.default' is 13, more than 12", None),
        ("spec.parameters.fan.default", "1", "'spec.parameters.fan.default' is '1', not a whole number", None),
        ("spec.parameters.fan.typ", "x", "'spec.parameters.fan.typ' is not a field", "'type'"),
        (
            "spec.parameters", {"a-b": {"about": "x", "type": "text"}},
            "'spec.parameters.a-b' cannot be used in templates", "letters and digits",
        ),
        (
            "spec.parameters", {"node": {"about": "x", "type": "text"}},
            "'spec.parameters.node' has the name of a fact of the node", "another name",
        ),
        ("metadata.name", "Fan Failed", "'metadata.name' cannot be the name of a FaultClass", "lower-case"),
    ],
)  # fmt: skip
def test_an_error_names_file_field_and_what_was_meant(
    path: str, value: Any, problem: str, hint: str | None
) -> None:
    wrong = changed(path, value)
    with pytest.raises(ConfigError) as caught:
        FaultCatalogue([wrong]).find(wrong.name)

    assert str(caught.value).startswith("my.yaml, document 1: ")
    assert problem in str(caught.value)
    assert (hint or "") in (caught.value.hint or "")
    assert bool(hint) is bool(caught.value.hint)


@pytest.mark.parametrize(
    ("kind", "value", "problem"),
    [
        ("integer", True, "is 'True', not a whole number"),
        ("integer", 1.5, "is '1.5', not a whole number"),
        ("number", False, "is 'False', not a number"),
        ("number", "2", "is '2', not a number"),
        ("duration", "2", "is '2', not a duration such as 90s"),
        ("duration", 2, "is '2', not a duration such as 90s"),
        ("duration", "2s", "is 2s, less than 3"),
        ("number", 2.5, "is 2.5, less than 3"),
        ("number", 4.5, "is 4.5, more than 4"),
        ("text", 1, "is '1', not a text"),
    ],
)
def test_a_value_that_a_parameter_does_not_take_is_no_default(
    kind: str, value: Any, problem: str
) -> None:
    limits = {} if kind == "text" else {"minimum": 3, "maximum": 4}
    parameter = {"about": "x", "type": kind, "default": value, **limits}
    with pytest.raises(ConfigError, match=r"spec\.parameters\.fan\.default") as caught:
        FaultCatalogue([changed("spec.parameters.fan", parameter)]).find("fan-failed")

    assert problem in str(caught.value)


def test_a_default_is_one_of_the_choices() -> None:
    parameter = {"about": "x", "type": "text", "default": "c", "choices": ["a", "b"]}
    with pytest.raises(ConfigError, match="is 'c', not one of: a, b"):
        FaultCatalogue([changed("spec.parameters.fan", parameter)]).find("fan-failed")


@pytest.mark.parametrize(("name", "near"), [("xid79", "xid-79"), ("gpu-mising", "gpu-missing")])
def test_an_unknown_class_names_the_nearest(name: str, near: str) -> None:
    with pytest.raises(UsageError, match=f"there is no class of faults called '{name}'") as caught:
        CATALOGUE.find(name)

    assert caught.value.hint == f"did you mean '{near}'?"


def test_an_unknown_dialect_names_the_others() -> None:
    with pytest.raises(UsageError, match="there is no dialect of faults called 'zzz'") as caught:
        CATALOGUE.dialect("zzz")

    assert str(caught.value.hint).startswith("there are: aks, azurehpc")


def test_classes_follow_each_other() -> None:
    found = {each.name for each in CATALOGUE.followers(CATALOGUE.find("cooling-loop"))}

    assert found == {"node-thermal", "gpu-thermal"}


def test_classes_that_follow_each_other_in_a_circle_end() -> None:
    mine = changed("spec.cascades", [{"class": "fan-failed", "hits": "node"}])
    catalogue = FaultCatalogue([mine])

    assert [each.name for each in catalogue.followers(catalogue.find("fan-failed"))] == [
        "fan-failed"
    ]
