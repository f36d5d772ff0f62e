"""The words of `fault inject`, as a Fault."""

from typing import Any

import pytest

from kwokctl.clusters.faults.inject_request import (
    InjectRequest,
    checked_spec,
    used_documents,
)
from kwokctl.config.config_documents import Document
from kwokctl.errors import ConfigError, UsageError
from kwokctl.faults.classes.catalogue import FaultCatalogue
from kwokctl.faults.objects.fault_bodies import fault_body
from kwokctl.faults.objects.fault_schema import FaultSpec, FaultTarget, PodTarget

ALL = FaultTarget(percent=100)


def spec_of(class_name: str = "xid-79", **fields: Any) -> FaultSpec:
    target = fields.pop("target", ALL)
    request = InjectRequest(class_name=class_name, target=target, **fields)
    return checked_spec(request, FaultCatalogue())


def test_values_have_the_types_of_the_parameters() -> None:
    assert spec_of(settings=("gpu=3",)).parameters == {"gpu": 3}
    assert spec_of("gpu-straggler", settings=("factor=1.5", "gpu=0")).parameters == {
        "factor": 1.5,
        "gpu": 0,
    }


@pytest.mark.parametrize(
    ("fields", "error", "message"),
    [
        ({"class_name": "xid-78"}, UsageError, "no class of faults called 'xid-78'"),
        ({"dialects": ("aka",)}, UsageError, "no dialect of faults called 'aka'"),
        ({"settings": ("gpu",)}, UsageError, "'--set' is 'gpu'"),
        ({"settings": ("=3",)}, UsageError, "'--set' is '=3'"),
        ({"settings": ("gpu=1", "gpu=2")}, UsageError, "'--set' gives 'gpu' twice"),
        ({"settings": ("gpu=x",)}, ConfigError, "is 'x', not a whole number"),
        ({"settings": ("gpx=1",)}, ConfigError, "'spec.parameters.gpx' is no parameter"),
        ({"gang": True, "class_name": "dcgm-down"}, ConfigError, "spec.gang"),
        ({"target": FaultTarget()}, ConfigError, "spec.target"),
    ],
)
def test_what_makes_no_sense_is_refused(
    fields: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        spec_of(**fields)


def test_a_seed_is_drawn_if_none_is_given() -> None:
    assert spec_of(seed=0).seed == 0
    assert len({spec_of().seed for _ in range(5)}) == 5


def test_a_body_has_what_was_said_and_the_seed() -> None:
    body = fault_body(spec_of(seed=0))

    assert body == {
        "apiVersion": "kwokctl.dev/v1alpha1",
        "kind": "Fault",
        "metadata": {"generateName": "xid-79-"},
        "spec": {"class": "xid-79", "target": {"percent": 100}, "seed": 0},
    }


def test_a_body_has_every_field_that_was_given() -> None:
    target = FaultTarget(
        nodes=("n-1",), unit="leaf-1", where="gpus > 0", count=2, usage="busy",
        pods=PodTarget(selector="a=b"), foreign=True, follow=True,
    )  # fmt: skip
    spec = FaultSpec(
        class_name="app-failed", target=target, dialects=("aks",), parameters={"exitCode": 0}, seed=7,
        at="30s", lasts="10m", until="2027-01-01T00:00:00Z", gang=True,
    )  # fmt: skip
    body = fault_body(spec, "mine")

    assert body["metadata"] == {"name": "mine"}
    assert body["spec"] == {
        "class": "app-failed",
        "target": {
            "nodes": ["n-1"], "unit": "leaf-1", "where": "gpus > 0", "count": 2, "usage": "busy",
            "pods": {"selector": "a=b"}, "foreign": True, "follow": True,
        },
        "dialects": ["aks"], "parameters": {"exitCode": 0}, "seed": 7, "at": "30s", "for": "10m",
        "until": "2027-01-01T00:00:00Z", "gang": True,
    }  # fmt: skip


def test_documents_are_those_of_the_class_of_what_follows_and_of_the_dialects() -> None:
    catalogue = FaultCatalogue()
    bodies = [
        *(dict(each.document) for each in catalogue.classes()),
        *(dict(each.document) for each in catalogue.dialects()),
    ]
    documents = [
        Document(
            kind=body["kind"],
            api_version=body["apiVersion"],
            name=body["metadata"]["name"],
            body=body,
            source="x",
        )
        for body in bodies
    ]
    spec = spec_of(dialects=("eks",))
    names = [each.name for each in used_documents(spec, FaultCatalogue(documents), documents)]

    assert {"xid-79", "xid-154", "eks", "kubelet"} <= {*names}
    assert not {"xid-13", "aks", "npd"} & {*names}
