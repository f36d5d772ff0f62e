"""The conditions of nodes without faults."""

import pytest

from kwokctl.config.config_documents import Document
from kwokctl.errors import ExpressionError
from kwokctl.faults.classes.catalogue import FaultCatalogue
from kwokctl.faults.classes.healthy_conditions import conditions_at_birth
from kwokctl.json_value import Json


def dialect(name: str, bad: str, *conditions: Json) -> Document:
    spec = {"agent": "an agent", "badStatus": bad, "conditions": [*conditions]}
    version, kind = "kwokctl.dev/v1alpha1", "FaultDialect"
    body: dict[str, Json] = {
        "apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": spec,
    }  # fmt: skip
    return Document(kind=kind, api_version=version, name=name, body=body, source="own.yaml")


def condition(kind: str, **fields: str) -> Json:
    return {"type": kind, "reason": "Good", **fields}


def test_a_condition_has_the_opposite_status_of_a_fault_or_its_own() -> None:
    true_is_bad = dialect("first", "True", condition("Fan"), condition("Disk", status="Unknown"))
    false_is_bad = dialect("second", "False", condition("Power"))
    born = conditions_at_birth(FaultCatalogue([true_is_bad, false_is_bad]))

    statuses = {each["type"]: each["status"] for each in born(["first", "second"])}
    assert statuses == {"Fan": "False", "Disk": "Unknown", "Power": "True"}


def test_of_a_type_that_two_dialects_have_the_last_counts() -> None:
    one = dialect("one", "True", condition("Fan", message="of one"))
    other = dialect("other", "True", condition("Fan", message="of the other"))
    born = conditions_at_birth(FaultCatalogue([one, other]))

    assert [each["message"] for each in born(["one", "other"])] == ["of the other"]
    assert [each["message"] for each in born(["other", "one"])] == ["of one"]


def test_what_the_kubelet_of_every_node_says_is_left_to_stages() -> None:
    born = conditions_at_birth(FaultCatalogue())

    assert born(["kubelet"]) == []
    assert born(["kubelet", "aks"]) == born(["aks"])
    assert born(None) == []


@pytest.mark.parametrize("name", ["akz", 7, None])
def test_an_unknown_dialect_is_named_with_its_place(name: Json) -> None:
    born = conditions_at_birth(FaultCatalogue())

    with pytest.raises(ExpressionError, match=r"dialects\[1\]: there is no dialect") as caught:
        born(["dgx", name])

    assert "aks" in str(caught.value.hint)
