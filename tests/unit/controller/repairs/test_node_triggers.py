"""Which nodes a controller looks at for repairs, as their watch shows them."""

from kwokctl.controller.repairs.node_triggers import watches_nodes
from kwokctl.faults.repairs.policy_schema import RepairPolicySpec, RepairTrigger, RequestTrigger

CORDONS = {"p": RepairPolicySpec(triggers=(RepairTrigger(action="reboot", cordoned_for="1m"),))}
REQUESTS = {
    "p": RepairPolicySpec(
        triggers=(
            RepairTrigger(action="reboot", request=RequestTrigger(api_version="a/v1", kind="B")),
        )
    )
}


def test_nodes_are_watched_only_for_policies_that_are_about_them() -> None:
    assert watches_nodes(CORDONS)
    assert not watches_nodes(REQUESTS)
    assert not watches_nodes({})
