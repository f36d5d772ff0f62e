"""One repair, step by step: resets of GPUs that pods use, and what its node must have shown before it ends."""

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from kwokctl.controller.known_faults.fault_clock import FaultClock
from kwokctl.controller.known_faults.open_faults import OpenFaults
from kwokctl.controller.nodes.node_registry import ManagedNode, NodeRegistry
from kwokctl.controller.repairs.known_repairs import KnownRepairs, StoredPolicy
from kwokctl.controller.repairs.repair_objects import RepairObjects
from kwokctl.controller.repairs.repair_steps import RepairSteps
from kwokctl.faults.objects.fault_schema import (
    FaultSpec,
    FaultStatus,
    FaultTarget,
    ObjectMeta,
    Phase,
    StoredFault,
)
from kwokctl.faults.objects.unit_rows import FaultUnit, UnitRow, row_text
from kwokctl.faults.repairs.repair_schema import (
    RepairCause,
    RepairMeta,
    RepairSpec,
    RepairStatus,
    StoredRepair,
)
from kwokctl.faults.repairs.replaced_node import Replacement
from kwokctl.json_value import Json
from kwokctl.replacing import replace
from tests.support.faults import NOON, node

NODE, SHOP = "n-0", "shop"
LOAD = ("default/load",)


class Machine(RepairObjects):
    """One node with the pods on it, a Repair, and a clock that a test sets."""

    def __init__(self, action: Any = "reset-gpu", **rules: Any) -> None:
        """Have a repair that was queued by a policy; `rules` are those of the action."""
        self.now = NOON
        self.pods: list[dict[str, Json]] = []
        self.made: list[RepairSpec] = []
        self.stored: dict[str, Json] | None = {
            **node(), "metadata": {**node()["metadata"], "uid": "u"}
        }  # fmt: skip
        self.before_write: Callable[[], None] = lambda: None
        self.known = KnownRepairs(lambda: None)
        spec = {"actions": {action: {"takes": "20s", **rules}, "reboot": {}}}
        self.known.note_policy(StoredPolicy(metadata=ObjectMeta(name=SHOP), spec=spec))
        assert not self.known.problems
        self.nodes = nodes = NodeRegistry()
        nodes.put(ManagedNode(NODE, "u", (), ()))
        self.faults = OpenFaults(FaultClock(lambda: self.now))
        self.steps = RepairSteps(
            self.known, self, self.faults, nodes, lambda: self.now, lambda *_: None
        )
        queued = RepairStatus(phase="Queued", policy=SHOP)
        self.repair = StoredRepair(
            metadata=RepairMeta(name="r", uid="r", resource_version="1"),
            spec=RepairSpec(node=NODE, action=action, policy=SHOP),
            status=queued,
        )

    @property
    def status(self) -> RepairStatus:
        return self.repair.status

    def use(self, pod: str = "load", phase: str = "Running") -> None:
        """Put a pod with a GPU on the node."""
        wanted = {"requests": {"nvidia.com/gpu": "1"}}
        self.pods.append(
            {"metadata": {"namespace": "default", "name": pod, "uid": pod},
             "spec": {"nodeName": NODE, "containers": [{"name": "a", "resources": wanted}]},
             "status": {"phase": phase}}
        )  # fmt: skip

    def ask(self, node_uid: str, **more: Any) -> None:
        """Let a label of a node, by uid, be the cause of the repair."""
        cause = RepairCause(trigger="label", node_uid=node_uid, **more)
        self.repair = replace(self.repair, spec=replace(self.repair.spec, cause=cause))

    def begin(self) -> None:
        asyncio.run(self.steps.begin(self.repair))

    def look(self) -> float | None:
        """Let the repair go on, as often as it has something to do at once."""
        while (wait := asyncio.run(self.steps.go_on(self.repair))) == 0.0:
            pass
        return wait

    async def put_status(self, repair: StoredRepair, status: RepairStatus) -> StoredRepair:
        version = str(int(repair.metadata.resource_version or 0) + 1)
        meta = replace(repair.metadata, resource_version=version)
        read = msgspec.convert(msgspec.to_builtins(status), RepairStatus)
        self.before_write()
        self.repair = replace(repair, metadata=meta, status=read)
        return self.repair

    async def node(self, name: str) -> dict[str, Json] | None:
        return self.stored

    async def delete_node(self, name: str, uid: str) -> None:
        """Wait for those whose finalizers keep the node."""

    async def delete_pods(self, node: str) -> None:
        self.pods.clear()

    async def make_node(self, replacement: Replacement) -> str:
        self.stored = {
            **replacement.node, "metadata": {**replacement.node["metadata"], "uid": "new"}
        }  # fmt: skip
        return "new"

    async def slices_of(self, node: str) -> list[dict[str, Json]]:
        return []

    async def pods_on(self, node: str) -> list[dict[str, Json]]:
        return self.pods

    async def hide(self, name: str) -> None:
        self.faults.drop(name)

    async def show(self, name: str, repair: StoredRepair, class_name: str) -> None:
        if name not in self.faults.faults:
            self.inject(name)

    def inject(self, name: str, **status: Any) -> None:
        """Note the Fault that the node is to show, with these fields of its status."""
        spec = FaultSpec(class_name="reboot", target=FaultTarget(nodes=(NODE,)))
        meta = ObjectMeta(name=name, uid=name)
        self.faults.note(StoredFault(metadata=meta, spec=spec, status=FaultStatus(**status)))

    async def create(self, name: str, spec: RepairSpec) -> None:
        self.made.append(spec)


def test_a_gpu_in_use_is_not_reset_and_the_next_action_follows() -> None:
    machine = Machine(ifFailed="reboot")
    machine.use()
    machine.begin()

    assert machine.look() is None

    assert (machine.status.phase, machine.status.in_use) == ("Failed", LOAD)
    assert machine.status.message == (
        "no GPU was reset, because default/load uses GPUs of the node; 'reboot' follows"
    )
    assert [each.action for each in machine.made] == ["reboot"]


def test_it_waits_for_pods_in_its_slot_and_its_length_begins_when_they_are_gone() -> None:
    machine = Machine(idleWithin="5m")
    machine.use()
    machine.begin()

    wait = machine.look()

    assert wait is not None
    assert 0 < wait < 300
    assert (machine.status.phase, machine.status.in_use) == ("Running", LOAD)
    assert machine.status.message == "it waits, because default/load uses GPUs of the node"

    machine.now += 200
    machine.pods.clear()
    assert machine.look() == 20.0
    assert (machine.status.clock, machine.status.takes) == (machine.now, 20.0)
    assert (machine.status.in_use, machine.status.message) == ((), "")

    machine.use("next")
    machine.now += 20
    assert machine.look() is None
    assert (machine.status.phase, machine.status.message) == ("Succeeded", "there was no fault")


def test_it_fails_when_pods_stay_for_longer_than_it_waits() -> None:
    machine = Machine(idleWithin="5m")
    for name in "abcde":
        machine.use(name)
    machine.begin()
    machine.look()
    machine.now += 300

    assert machine.look() is None

    assert machine.status.phase == "Failed"
    assert "default/a, default/b, default/c and 2 more use GPUs" in machine.status.message


def test_a_node_without_pods_that_use_gpus_is_repaired_at_once() -> None:
    machine = Machine()
    machine.use("over", phase="Succeeded")
    machine.begin()
    assert machine.look() == 20.0


def test_other_actions_ask_no_pod() -> None:
    machine = Machine("power-cycle")
    machine.use()
    machine.begin()
    assert machine.look() == 20.0
    assert machine.status.in_use == ()


@pytest.mark.parametrize(
    ("phase", "row", "ends"),
    [
        ("Pending", None, False),
        ("Injecting", UnitRow(unit=FaultUnit(node=NODE, node_uid="u")), False),
        ("Landed", UnitRow(unit=FaultUnit(node=NODE, node_uid="u"), landed=0.5), True),
        ("Injecting", UnitRow(unit=FaultUnit(node=NODE, node_uid="u"), problem="Forbidden"), True),
        ("Refused", None, True),
    ],
)
def test_it_ends_after_its_node_has_shown_it_however_late_that_is(
    phase: Phase, row: UnitRow | None, *, ends: bool
) -> None:
    machine = Machine("power-cycle")
    machine.begin()
    machine.look()
    machine.now += 1000
    rows = () if row is None else (row_text(row),)
    machine.inject("repair-r", phase=phase, rows=rows)

    machine.look()

    assert machine.status.phase == ("Succeeded" if ends else "Running")


def test_a_new_node_is_made_when_finalizers_have_let_the_old_one_go() -> None:
    machine = Machine("replace")
    machine.begin()
    assert machine.look() == 20.0
    machine.now += 20

    assert machine.look() == 1.0

    machine.stored = None
    assert machine.look() is None
    assert machine.status.phase == "Succeeded"
    made = asyncio.run(machine.node(NODE))
    assert made is not None
    assert made["metadata"]["uid"] == "new"


def test_a_node_that_is_gone_before_it_is_known_how_it_was_is_not_replaced() -> None:
    machine = Machine("replace")
    machine.stored = None
    machine.begin()

    assert machine.look() is None

    found = (machine.status.phase, machine.status.message)
    assert found == ("Failed", "the node was deleted meanwhile")


def test_a_repair_that_is_deleted_during_a_write_stays_forgotten() -> None:
    machine = Machine()
    machine.known.note(machine.repair)
    machine.before_write = lambda: machine.known.drop("r", "r")

    machine.begin()

    assert machine.status.phase == "Running"
    assert machine.known.get("r") is None


@pytest.mark.parametrize(
    ("uid", "more", "phase"),
    [
        ("u", {}, "Running"),
        ("earlier", {}, "Failed"),
        ("earlier", {"after": "r-0"}, "Running"),  # the one before has replaced the node
    ],
)
def test_a_node_is_not_repaired_for_what_was_wrong_with_an_earlier_one_of_its_name(
    uid: str, more: dict[str, str], phase: str
) -> None:
    machine = Machine("power-cycle")
    machine.ask(uid, **more)

    machine.begin()

    assert machine.status.phase == phase


def test_a_repair_begins_when_the_watch_has_shown_the_node_that_it_is_for() -> None:
    machine = Machine("power-cycle")
    machine.ask("new")
    machine.stored = {**node(), "metadata": {**node()["metadata"], "uid": "new"}}

    machine.begin()
    before = machine.status
    machine.nodes.put(ManagedNode(NODE, "new", (), ()))
    machine.begin()

    assert before.phase == "Queued"
    assert (machine.status.phase, machine.status.node_uid) == ("Running", "new")
