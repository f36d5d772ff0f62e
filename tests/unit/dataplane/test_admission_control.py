""""""

import json

import pytest

from kwokctl.dataplane.admission_control import WATCHED, read_admission_control
from kwokctl.kube.resource import DEPLOYMENTS, EVENTS, NODES, PODS, Resource


def webhook(*rules: tuple[list[str], list[str]]) -> bytes:
    listed = [{"apiGroups": groups, "resources": plurals} for groups, plurals in rules]
    return json.dumps({"metadata": {"name": "w"}, "webhooks": [{"rules": listed}]}).encode()


@pytest.mark.parametrize(
    ("groups", "plurals", "watched"),
    [
        ([""], ["pods"], {PODS}),
        ([""], ["pods/status"], {PODS}),
        (["*"], ["*"], {PODS, NODES, DEPLOYMENTS, EVENTS}),
        (["*"], ["*/*"], {PODS, NODES, DEPLOYMENTS, EVENTS}),
        (["apps"], ["*"], {DEPLOYMENTS}),
        (["batch"], ["pods"], set()),
        ([""], ["events"], {EVENTS}),
        (["events.k8s.io"], ["*"], {EVENTS}),
    ],
)
def test_a_webhook_watches_over_what_its_rules_name(
    groups: list[str], plurals: list[str], watched: set[Resource]
) -> None:
    rule = read_admission_control("ValidatingWebhookConfiguration", webhook((groups, plurals)))

    assert {r for r in (PODS, NODES, DEPLOYMENTS, EVENTS) if rule.applies_to(r)} == watched


def test_a_policy_watches_over_its_constraints() -> None:
    rules = [{"apiGroups": [""], "resources": ["nodes"]}]
    body = {"metadata": {"name": "p"}, "spec": {"matchConstraints": {"resourceRules": rules}}}

    rule = read_admission_control("ValidatingAdmissionPolicy", json.dumps(body).encode())

    assert rule.applies_to(NODES)
    assert not rule.applies_to(PODS)
    assert rule.name == "ValidatingAdmissionPolicy 'p'"


@pytest.mark.parametrize("kind", ["ValidatingAdmissionPolicy", "MutatingAdmissionPolicy"])
def test_policies_are_followed_in_every_version_that_some_release_has(kind: str) -> None:
    versions = [each.version for each in WATCHED if each.kind == kind]

    assert versions == ["v1", "v1beta1", "v1alpha1"]
