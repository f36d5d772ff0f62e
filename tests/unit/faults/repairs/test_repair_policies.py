"""How repairs go: their length, what they end, and who has a slot."""

from itertools import pairwise

from kwokctl.draws.distributions import LogNormal
from kwokctl.faults.classes.catalogue import FaultCatalogue
from kwokctl.faults.repairs.policies import (
    NO_POLICY,
    OpenOnNode,
    allowed_cause,
    attempt_of,
    is_in_repair,
    outcome,
    policy_for,
    rules_of,
    startable,
    takes,
)
from kwokctl.faults.repairs.policy_schema import (
    ActionRules,
    LabelTrigger,
    RepairPolicySpec,
    RepairTrigger,
    RequestTrigger,
)
from kwokctl.faults.repairs.repair_actions import ACTIONS, KNOWN, class_odds
from kwokctl.faults.repairs.repair_schema import (
    Asker,
    RepairCause,
    RepairMeta,
    RepairPhase,
    RepairSpec,
    RepairStatus,
    StoredRepair,
)

CLASSES = FaultCatalogue()


def repair(
    name: str,
    node: str = "n-0",
    phase: RepairPhase = "Queued",
    *,
    accepted: str = "",
    policy: str = "",
    started: str = "",
    length: str = "",
) -> StoredRepair:
    return StoredRepair(
        metadata=RepairMeta(name=name, uid=name),
        spec=RepairSpec(node=node, action="reboot", takes=length),
        status=RepairStatus(phase=phase, policy=policy, accepted_at=accepted, started_at=started),
    )


def fault(class_name: str, name: str = "f") -> OpenOnNode:
    return OpenOnNode(
        name=name, uid=name, class_name=class_name, spec=CLASSES.find(class_name).spec
    )


def test_of_a_cause_only_what_triggers_of_the_policy_name_is_done() -> None:
    asker = Asker(api_version="a/v1", kind="RebootNode", name="r")
    cause = RepairCause(trigger="request", by="ann", label="role", request=asker)
    label = RepairTrigger(action="reboot", label=LabelTrigger(key="role"))
    request = RepairTrigger(
        action="reboot", request=RequestTrigger(api_version="a/v1", kind="RebootNode")
    )
    silent = RepairTrigger(
        action="reboot", request=RequestTrigger(api_version="a/v1", kind="RebootNode", answer=False)
    )
    other = RepairTrigger(action="reboot", request=RequestTrigger(api_version="v1", kind="Pod"))

    def allowed(*triggers: RepairTrigger) -> tuple[str, Asker | None]:
        found = allowed_cause(RepairPolicySpec(triggers=triggers), cause)
        assert (found.trigger, found.by) == ("request", "ann")
        return found.label, found.request

    assert allowed(label, request) == ("role", asker)
    assert allowed(label) == ("role", None)
    assert allowed(request) == ("", asker)
    assert allowed(silent, other) == ("", None)
    assert allowed() == ("", None)


def test_a_heavier_action_ends_what_a_lighter_one_does() -> None:
    for lighter, heavier in pairwise(ACTIONS[1:]):
        assert set(KNOWN[lighter].cures) <= set(KNOWN[heavier].cures)
    assert set(KNOWN["reset-gpu"].cures) <= set(KNOWN["reboot"].cures)


def test_classes_say_what_ends_them_and_how_likely_that_is() -> None:
    xid = CLASSES.find("xid-79").spec
    assert class_odds("reboot", xid) == 0.0
    assert class_odds("power-cycle", xid) == 0.7
    assert class_odds("replace", xid) == 1.0
    assert class_odds("reboot", CLASSES.find("not-ready").spec) == 1.0
    assert class_odds("replace", CLASSES.find("leaf-down").spec) == 0.0
    assert class_odds("host-repair", CLASSES.find("leaf-down").spec) == 1.0


def test_each_class_that_is_not_over_by_itself_can_be_repaired_or_ends_with_its_cause() -> None:
    for each in CLASSES.classes():
        odds = max(class_odds(action, each.spec) for action in ACTIONS)
        assert odds > 0 or "cause-ends" in each.spec.cleared_by, each.name


def test_the_odds_of_a_policy_come_before_those_of_the_class() -> None:
    never = RepairPolicySpec(actions={"replace": ActionRules(odds={"xid-79": 0.0})})
    assert outcome(never, "n-0", "replace", 0, [fault("xid-79")]).left == ("f",)
    always = RepairPolicySpec(actions={"reboot": ActionRules(odds={"xid-79": 1.0})})
    assert outcome(always, "n-0", "reboot", 0, [fault("xid-79")]).cleared == ("f",)


def test_what_a_repair_ends_follows_from_seed_names_and_attempt_alone() -> None:
    half = ActionRules(odds={"xid-79": 0.5})
    spec = RepairPolicySpec(seed=7, actions={"reboot": half})
    names = [f"n-{number}" for number in range(200)]
    first = [outcome(spec, name, "reboot", 0, [fault("xid-79")]).cleared for name in names]
    again = [outcome(spec, name, "reboot", 0, [fault("xid-79")]).cleared for name in names]
    assert first == again
    assert 60 < sum(map(bool, first)) < 140
    assert first != [outcome(spec, each, "reboot", 1, [fault("xid-79")]).cleared for each in names]
    other = RepairPolicySpec(seed=8, actions={"reboot": half})
    assert first != [outcome(other, each, "reboot", 0, [fault("xid-79")]).cleared for each in names]
    beside = [fault("xid-79"), fault("not-ready", "other")]
    both = [outcome(spec, each, "reboot", 0, beside) for each in names]
    assert [[each for each in found.cleared if each == "f"] for found in both] == [
        [*each] for each in first
    ]


def test_a_fault_that_shows_under_load_only_is_left_and_sleeps() -> None:
    found = outcome(NO_POLICY, "n-0", "reboot", 0, [fault("gpu-thermal"), fault("xid-79", "g")])
    assert "f" in found.left or "f" in found.cleared
    never = RepairPolicySpec(
        actions={"reboot": ActionRules(odds={"gpu-thermal": 0.0, "xid-79": 0.0})}
    )
    found = outcome(never, "n-0", "reboot", 0, [fault("gpu-thermal"), fault("xid-79", "g")])
    assert (found.cleared, found.left, found.asleep) == ((), ("f", "g"), ("f",))


def test_nothing_ends_a_fault_whose_class_nobody_can_read() -> None:
    unread = OpenOnNode(name="f", uid="f", class_name="gone", spec=None)
    assert outcome(NO_POLICY, "n-0", "replace", 0, [unread]).left == ("f",)


def test_a_length_is_drawn_for_each_attempt_unless_it_is_given() -> None:
    one = repair("a")
    lengths = [takes(NO_POLICY, one, "reboot", attempt) for attempt in range(300)]
    assert len(set(lengths)) > 250
    middle = LogNormal(p50=240.0, p95=540.0).value(0.5)
    assert 0.8 * middle < sorted(lengths)[150] < 1.25 * middle
    fixed = RepairPolicySpec(actions={"reboot": ActionRules(takes="90s")})
    assert takes(fixed, one, "reboot", 5) == 90.0
    assert takes(fixed, repair("b", length="5s"), "reboot", 0) == 5.0


def test_a_policy_offers_what_it_lists_and_all_without_a_list() -> None:
    assert rules_of(NO_POLICY, "replace") is not None
    listed = RepairPolicySpec(actions={"reboot": ActionRules()})
    assert rules_of(listed, "replace") is None


def test_slots_are_given_out_in_the_order_of_acceptance() -> None:
    policies = {"shop": RepairPolicySpec(slots=2)}
    queued = [
        repair(name, node, accepted=at, policy="shop")
        for name, node, at in (("c", "n-3", "3"), ("a", "n-1", "1"), ("b", "n-2", "2"))
    ]
    assert [each.name for each in startable(queued, policies)] == ["a", "b"]
    running = repair("r", "n-9", "Running", policy="shop")
    assert [each.name for each in startable([*queued, running], policies)] == ["a"]
    full = [running, repair("s", "n-8", "Running", policy="shop")]
    assert startable([*queued, *full], policies) == []
    others = [repair("t", "n-7", "Running", policy="other"), repair("u", "n-6", "Failed")]
    assert [each.name for each in startable([*queued, *others], policies)] == ["a", "b"]


def test_a_node_has_one_repair_at_a_time_and_takes_no_slot_meanwhile() -> None:
    policies = {"shop": RepairPolicySpec(slots=2)}
    running = repair("r", "n-1", "Running", policy="shop")
    waiting = repair("w", "n-1", accepted="1", policy="shop")
    free = repair("f", "n-2", accepted="2", policy="shop")
    assert [each.name for each in startable([running, waiting, free], policies)] == ["f"]
    twice = [repair("x", "n-5", accepted="1"), repair("y", "n-5", accepted="2")]
    assert [each.name for each in startable(twice, policies)] == ["x"]
    assert is_in_repair([running], "n-1")
    assert not is_in_repair([waiting], "n-1")


def test_an_attempt_is_counted_from_repairs_that_have_begun() -> None:
    mine = repair("m")
    before = [repair("a", phase="Failed", started="1"), repair("b", phase="Refused")]
    assert attempt_of(mine, [mine, *before, repair("c", "n-9", "Failed", started="1")]) == 1


def test_a_repair_without_a_policy_takes_the_first_that_fits() -> None:
    policies = {"b": NO_POLICY, "a": NO_POLICY, "z": NO_POLICY}
    assert policy_for(repair("r"), policies, {"b", "z"}) == "b"
    assert policy_for(repair("r"), policies, set()) == ""
