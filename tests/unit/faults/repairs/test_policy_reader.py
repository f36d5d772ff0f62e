"""Errors in policies: each names its field, and says what would be right."""

from typing import Any

import pytest

from kwokctl.config.config_documents import Document
from kwokctl.config.document_kinds import OWN, REPAIR_POLICY
from kwokctl.errors import ConfigError
from kwokctl.faults.repairs.policy_reader import read_policy

REBOOT = {"action": "reboot", "cordonedFor": "2m"}


def document(**spec: Any) -> Document:
    body = {"apiVersion": OWN, "kind": REPAIR_POLICY, "metadata": {"name": "shop"}, "spec": spec}
    return Document(kind=REPAIR_POLICY, api_version=OWN, name="shop", body=body, source="shop.yaml")


def test_a_whole_policy_is_read() -> None:
    found = read_policy(
        document(
            seed=42,
            slots=4,
            where="gpus > 0",
            uncordon=True,
            triggers=[
                REBOOT,
                {"action": "host-repair", "label": {"key": "ask"}},
                {"action": "replace", "nodeDeleted": True},
                {"action": "reboot", "request": {"apiVersion": "a/v1", "kind": "RebootNode"}},
            ],
            actions={
                "reboot": {
                    "takes": {"lognormal": {"p50": "4m", "p95": "9m"}},
                    "odds": {"xid-79": 0.1},
                    "ifFailed": "replace",
                },
                "replace": {"takes": "8m"},
                "host-repair": {},
                "reset-gpu": {"idleWithin": "5m", "ifFailed": "reboot"},
            },
        ),
        ["xid-79"],
    )
    assert (found.name, found.spec.slots, len(found.spec.triggers)) == ("shop", 4, 4)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"where": "gpus >"}, "spec.where"),
        ({"slots": 0}, "spec.slots"),
        ({"triggers": [{"action": "reboot"}]}, "spec.triggers[0]"),
        ({"triggers": [{**REBOOT, "nodeDeleted": True}]}, "only one"),
        ({"triggers": [{**REBOOT, "cordonedFor": "soon"}]}, "spec.triggers[0].cordonedFor"),
        ({"triggers": [{**REBOOT, "action": "rebot"}]}, "spec.triggers[0].action"),
        ({"triggers": [{"action": "reboot", "nodeDeleted": True}]}, "made anew"),
        (
            {"triggers": [{"action": "reboot", "request": {"apiVersion": "v1", "kind": "Secret"}}]},
            "spec.triggers[0].request.kind' is 'Secret', which is no request",
        ),
        ({"triggers": [REBOOT], "actions": {"replace": {}}}, "does not offer"),
        ({"actions": {"reboot": {"ifFailed": "replace"}}}, "spec.actions.reboot.ifFailed"),
        ({"actions": {"reboot": {"takes": "0s"}}}, "spec.actions.reboot.takes"),
        (
            {"actions": {"reboot": {"takes": {"uniform": {"from": "1s", "to": "x"}}}}},
            "spec.actions.reboot.takes.uniform.to",
        ),
        ({"actions": {"reset-gpu": {"idleWithin": "soon"}}}, "spec.actions.reset-gpu.idleWithin"),
        ({"actions": {"reboot": {"idleWithin": "5m"}}}, "'reboot' does not wait for pods"),
        ({"actions": {"reboot": {"odds": {"xid-79": 2}}}}, "odds"),
        ({"actions": {"reboot": {"odds": {"xid-7": 0.1}}}}, "no class of faults"),
        (
            {"actions": {"reboot": {"ifFailed": "replace"}, "replace": {"ifFailed": "reboot"}}},
            "leads back",
        ),
        ({"slot": 1}, "spec.slot"),
    ],
)
def test_a_mistake_is_told_with_its_field(spec: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError) as told:
        read_policy(document(**spec), ["xid-79"])
    assert words in str(told.value)
    assert "shop.yaml" in str(told.value)
