from typing import Any

import pytest

from kwokctl.clusters.configuration.convert import converted
from kwokctl.config.config_documents import Document
from kwokctl.controller.stages.stage_reader import read_stages

OLD: dict[str, Any] = {
    "apiVersion": "kwok.x-k8s.io/v1alpha1",
    "kind": "Stage",
    "metadata": {"name": "old"},
    "spec": {
        "resourceRef": {"apiGroup": "v1", "kind": "Pod"},
        "selector": {
            "matchLabels": {"a": "b"},
            "matchExpressions": [{"key": ".status.phase", "operator": "In", "values": ["Pending"]}],
        },
        "weightFrom": {"expressionFrom": ".spec.priority"},
        "delay": {"durationMilliseconds": 5, "durationFrom": {"expressionFrom": ".x"}},
        "next": {
            "event": {"type": "Normal", "reason": "R", "message": "M"},
            "finalizers": {"empty": True},
            "statusTemplate": "phase: Running",
            "statusPatchAs": {"username": "me"},
            "delete": True,
        },
    },
}


def stages(body: dict[str, Any]) -> list[Any]:
    document = Document(kind="Stage", api_version="", name="old", body=body, source="f")
    return list(read_stages([document]))


def test_an_older_stage_becomes_one_in_the_present_spelling() -> None:
    assert converted(OLD)["spec"] == {
        "resourceRef": {"apiGroup": "v1", "kind": "Pod"},
        "selector": {
            "matchLabels": {"a": "b"},
            "matchExpressions": [
                {"jq": {"key": ".status.phase", "operator": "In", "values": ["Pending"]}}
            ],
        },
        "weightFrom": {"jq": {"expression": ".spec.priority"}},
        "delay": {"durationMilliseconds": 5, "durationFrom": {"jq": {"expression": ".x"}}},
        "steps": [
            {
                "event": {"type": "Normal", "reason": "R", "message": "M"},
                "finalizers": {"empty": True},
            },
            {
                "patch": {
                    "subresource": "status",
                    "root": "status",
                    "template": "phase: Running",
                    "impersonation": {"username": "me"},
                }
            },
            {"delete": True},
        ],
    }


def test_the_converted_stage_does_the_same() -> None:
    (before,), (after,) = stages(OLD), stages(converted(OLD))

    assert [type(step) for step in after.steps] == [type(step) for step in before.steps]
    assert [getattr(s, "as_user", "") for s in after.steps] == [
        getattr(s, "as_user", "") for s in before.steps
    ]


def test_patches_win_over_a_status_template() -> None:
    spec = {**OLD["spec"], "next": {"patches": [{"template": "a: b"}], "statusTemplate": "c: d"}}

    assert converted({**OLD, "spec": spec})["spec"]["steps"] == [{"patch": {"template": "a: b"}}]


def test_a_document_in_the_present_spelling_stays_the_same() -> None:
    new = converted(OLD)

    assert converted(new) == new


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({"enableMetricsServer": True}, {"enable": ["metrics-server"]}),
        ({"enableMetricsServer": False}, {}),
        (
            {"disableKubeScheduler": True, "disable": ["kube-scheduler"]},
            {"disable": ["kube-scheduler"]},
        ),
        (
            {"etcdBinaryTar": "u", "etcdBinary": "mine"},
            {"etcdBinary": "mine", "etcdctlBinary": "u#etcdctl", "etcdutlBinary": "u#etcdutl"},
        ),
    ],
)
def test_a_deprecated_option_becomes_what_took_its_place(
    options: dict[str, Any], wanted: dict[str, Any]
) -> None:
    body = {"kind": "KwokctlConfiguration", "options": options}

    assert converted(body)["options"] == wanted
