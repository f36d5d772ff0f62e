"""What the controller-manager does to Ready nodes is done to copies that are born Ready, and no more."""

import json
from typing import Any

import pytest

from kwokctl.dataplane.bulk.created_samples import Sample
from kwokctl.dataplane.bulk.ready_nodes import WithoutTaints, is_healthy, seen_finish
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.resource import NODES
from kwokctl.kube.transport.pool import Pool, Response
from tests.support import virtual_time
from tests.support.bulk import bulk_access, new_pods

NOT_READY = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
OWN = {"key": "mine", "effect": "NoExecute"}


def node(*taints: Any, spec: Any = None, **conditions: str) -> dict[str, Any]:
    listed = [{"type": kind, "status": status} for kind, status in conditions.items()]
    body = {"podCIDR": "10.0.0.0/24", **(spec or {})}
    if taints:
        body["taints"] = list(taints)
    return {"metadata": {"name": "n"}, "spec": body, "status": {"conditions": listed}}


class Nodes(Pool):
    """Shows a node as it is, first as it was created, then as it is later."""

    def __init__(self, *shown: Any) -> None:
        super().__init__(Access(server="http://127.0.0.1:1"))
        self.shown = list(shown)

    async def request(self, method: str, path: str, **_: Any) -> Response:
        found = self.shown.pop(0) if len(self.shown) > 1 else self.shown[0]
        return Response(200, json.dumps(found).encode(), [])


def lacks(raw: bytes) -> str | None:
    found = json.loads(raw)
    return None if is_healthy(found) and NOT_READY not in found["spec"].get("taints", []) else "?"


def finish(created: Any, *shown: Any) -> Any:
    access = bulk_access(pool=Nodes(*shown))
    new = new_pods(resource=NODES, namespace=None, lacks=lacks)
    return virtual_time.run(seen_finish(new, access, [Sample(0, created)]))


@pytest.mark.parametrize(
    ("conditions", "is_fine"),
    [
        ({"Ready": "True"}, True),
        ({"Ready": "True", "DiskPressure": "False", "Other": "True"}, True),
        ({"Ready": "True", "DiskPressure": "True"}, False),
        ({"Ready": "False"}, False),
        ({"Ready": "Unknown"}, False),
        ({}, False),
    ],
)
def test_a_node_is_healthy_if_it_is_ready_and_under_no_pressure(
    conditions: dict[str, str], is_fine: bool
) -> None:
    assert is_healthy(node(**conditions)) is is_fine


def test_a_taint_that_is_taken_off_a_real_node_is_taken_off_ready_copies() -> None:
    born = node(NOT_READY, OWN)
    take_off = finish(born, born, node(NOT_READY, OWN, Ready="True"), node(OWN, Ready="True"))

    assert take_off(node(NOT_READY, OWN, Ready="True")) == node(OWN, Ready="True")
    assert take_off(node(NOT_READY, Ready="True")) == node(Ready="True")
    assert take_off(node(NOT_READY, Ready="False")) == node(NOT_READY, Ready="False")
    assert take_off(node(Ready="True")) == node(Ready="True")


@pytest.mark.parametrize(
    "later",
    [
        node(NOT_READY, Ready="True"),
        node(Ready="False"),
        node(Ready="True", spec={"podCIDR": "10.0.1.0/24"}),
        node(OWN, Ready="True"),
    ],
)
def test_nothing_is_taken_off_where_no_more_than_that_is_certain(later: Any) -> None:
    assert finish(node(NOT_READY), later) is None


def test_taints_that_are_removed_have_no_owner() -> None:
    entry = {"manager": "kwok", "fieldsV1": {"f:spec": {"f:taints": {}, "f:podCIDR": {}}}}
    other = {"manager": "other", "fieldsV1": {"f:status": {"f:phase": {}}}}
    body = node(NOT_READY, Ready="True")
    body["metadata"]["managedFields"] = [entry, other]

    found = WithoutTaints([NOT_READY])(body)["metadata"]["managedFields"]

    assert found == [{"manager": "kwok", "fieldsV1": {"f:spec": {"f:podCIDR": {}}}}, other]
