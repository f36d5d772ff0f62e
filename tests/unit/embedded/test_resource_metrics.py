"""A node says where metrics-server finds what it uses."""

from typing import Any

import pytest

from kwokctl.embedded.resource_metrics import ANNOTATION, with_path
from kwokctl.kube.client import PatchType

PATCH = {"status": {"phase": "Running"}}
PATH = "/metrics/nodes/n/metrics/resource"


def node(**annotations: str) -> dict[str, Any]:
    return {"metadata": {"name": "n", "annotations": {"a": "b", **annotations}}}


@pytest.mark.parametrize("patch_type", [PatchType.STRATEGIC, PatchType.MERGE])
@pytest.mark.parametrize("have", [node(), {"metadata": {"name": "n"}}])
def test_a_status_brings_the_path_of_a_node_that_has_none(
    have: dict[str, Any], patch_type: PatchType
) -> None:
    patch = with_path(have, PATCH, patch_type)

    assert patch == {**PATCH, "metadata": {"annotations": {ANNOTATION: PATH}}}
    assert PATCH == {"status": {"phase": "Running"}}


@pytest.mark.parametrize("given", ["/metrics/resource", "/own", ""])
def test_a_path_that_a_node_has_is_left_alone(given: str) -> None:
    assert with_path(node(**{ANNOTATION: given}), PATCH, PatchType.STRATEGIC) is PATCH


def test_what_a_patch_says_itself_counts() -> None:
    said = {**PATCH, "metadata": {"uid": "u", "annotations": {ANNOTATION: "/own"}}}

    assert with_path(node(), said, PatchType.MERGE) == said


@pytest.mark.parametrize("patch", [[{"op": "add", "path": "/status/phase"}], "text", None])
def test_a_patch_of_another_form_is_left_alone(patch: object) -> None:
    assert with_path(node(), patch, PatchType.JSON) is patch
    assert with_path(node(), patch, PatchType.MERGE) is patch
