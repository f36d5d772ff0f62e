"""Reads a RepairPolicy, and says which field of it is wrong."""

from collections.abc import Iterator, Sequence

import msgspec

from kwokctl.config.config_documents import Document
from kwokctl.config.nearest import did_you_mean
from kwokctl.errors import ExpressionError
from kwokctl.faults.classes.document_errors import read, read_duration
from kwokctl.faults.repairs.policies import rules_of
from kwokctl.faults.repairs.policy_schema import (
    ActionRules,
    RepairPolicyShape,
    RepairPolicySpec,
    RepairTrigger,
    RequestTrigger,
)
from kwokctl.faults.repairs.repair_actions import ACTIONS, KNOWN, REPLACE, Action
from kwokctl.faults.storms.fault_times import time_texts
from kwokctl.faults.targets.node_expressions import compile_where


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """A policy, read and checked."""

    name: str
    spec: RepairPolicySpec


def read_policy(document: Document, classes: Sequence[str] = ()) -> Policy:
    """Return a policy; ConfigError, with file, document and field, for one that makes no sense.

    `classes` are the names of the classes of faults; without any, those in odds are not looked up.
    """
    spec = read(document, document.body, RepairPolicyShape).spec
    if spec.where:
        try:
            compile_where(spec.where)
        except ExpressionError as e:
            raise document.fault("spec.where", f"cannot be used: {e}", hint=e.hint) from e
    for number, trigger in enumerate(spec.triggers):
        place = f"spec.triggers[{number}]"
        _demand_offered(document, spec, f"{place}.action", trigger.action)
        _check_trigger(document, place, trigger)
    for action, rules in spec.actions.items():
        place = f"spec.actions.{action}"
        for field, text in time_texts(f"{place}.takes", rules.takes):
            read_duration(document, field, text, may_be_zero=field.endswith(".from"))
        if rules.if_failed is not None:
            _demand_offered(document, spec, f"{place}.ifFailed", rules.if_failed)
        _check_idle(document, place, action, rules)
        for name in rules.odds if classes else ():
            if name not in classes:
                hint = did_you_mean(name, classes) or "list them: kwokctl fault list"
                raise document.fault(f"{place}.odds.{name}", "is no class of faults", hint=hint)
    _check_circles(document, spec)
    return Policy(name=document.name, spec=spec)


def _check_trigger(document: Document, place: str, trigger: RepairTrigger) -> None:
    if trigger.cordoned_for is not None:
        read_duration(document, f"{place}.cordonedFor", trigger.cordoned_for, may_be_zero=True)
    if trigger.request is not None:
        _check_kind(document, f"{place}.request.kind", trigger.request)
        read_duration(document, f"{place}.request.after", trigger.request.after, may_be_zero=True)
    if trigger.node_deleted is not None:
        if not trigger.node_deleted:
            raise document.fault(f"{place}.nodeDeleted", "is false", hint="leave the trigger out")
        if trigger.action != REPLACE:
            raise document.fault(
                f"{place}.action",
                f"is '{trigger.action}', and a node that was deleted can only be made anew",
                hint=f"choose: {REPLACE}",
            )


def _check_idle(document: Document, place: str, action: Action, rules: ActionRules) -> None:
    if not rules.idle_within:
        return
    if not KNOWN[action].needs_idle:
        waiting = ", ".join(each for each in ACTIONS if KNOWN[each].needs_idle)
        raise document.fault(
            f"{place}.idleWithin",
            f"is given, and '{action}' does not wait for pods",
            hint=f"leave it out, or give it to: {waiting}",
        )
    read_duration(document, f"{place}.idleWithin", rules.idle_within, may_be_zero=True)


def _check_kind(document: Document, place: str, request: RequestTrigger) -> None:
    """Raise ConfigError for Secrets: a field of one would become the name of a node in a Repair, which others may read."""
    if (request.api_version, request.kind) == ("v1", "Secret"):
        raise document.fault(
            place,
            "is 'Secret', which is no request",
            hint="name a custom resource, such as RebootNode",
        )


def _demand_offered(document: Document, spec: RepairPolicySpec, place: str, action: Action) -> None:
    if rules_of(spec, action) is None:
        known = ", ".join(spec.actions)
        raise document.fault(
            place, f"is '{action}', which 'spec.actions' does not offer", hint=f"there are: {known}"
        )


def _check_circles(document: Document, spec: RepairPolicySpec) -> None:
    """Raise ConfigError for actions that follow each other without end."""
    for action in spec.actions:
        if action in _following(spec, action):
            raise document.fault(
                f"spec.actions.{action}.ifFailed",
                f"leads back to '{action}'",
                hint="let the last action have no 'ifFailed'",
            )


def _following(spec: RepairPolicySpec, action: Action) -> Iterator[Action]:
    """Yield the actions that follow one, each once."""
    seen: set[Action] = set()
    while (rules := spec.actions.get(action)) is not None and rules.if_failed not in {None, *seen}:
        assert rules.if_failed is not None
        action = rules.if_failed
        seen.add(action)
        yield action
