"""Checks whether an API server certainly takes a change of a status, and stores it as it is.

What is written to etcd passes by its validation, and a status that it would have refused can never be
repaired: it refuses every later change of the object, too. So what is not certain goes through it, for its
verdict and its message.
"""

from collections.abc import Collection, Sequence
from functools import lru_cache

import orjson

from kwokctl.json_value import Json
from kwokctl.kube.resource import NODES, PODS, Resource
from kwokctl.kube.statuses.decodable import TYPES, check_status
from kwokctl.kube.statuses.node_rules import NODE_RULES
from kwokctl.kube.statuses.pod_rules import POD_RULES
from kwokctl.kube.statuses.rule import Check, Rule, StatusChange

_RULES: dict[str, tuple[Rule, ...]] = {NODES.kind: NODE_RULES, PODS.kind: POD_RULES}
_REMEMBERED = 1024
"""Combinations of parts that patches change together."""


def check_change(
    resource: Resource,
    before: Json,
    after: Json,
    parts: Collection[str] | None = None,
    kept: Collection[str] = (),
) -> str | None:
    """Return the reason why the API server has to decide about another status of an object, or None.

    Such as `capacity.nvidia.com/gpu: '0.5' is not a whole number`. `parts` are those of the status that may
    be others; without them it is seen which are. It is taken to accept all that it has accepted before. `kept`
    are fields that only some API servers keep, and this one does.
    """
    status = after.get("status") or {}
    known = before.get("status") or {}
    if not isinstance(status, dict):
        return "not a mapping"
    if parts is None:
        parts = changed_parts(known, status)
    news = {name: status[name] for name in parts if name in status}
    problem = check_status(resource, orjson.dumps(news))
    if problem is not None:
        return problem
    change = StatusChange(after.get("spec") or {}, known, status, kept)
    for check in _checks(resource.kind, tuple(parts)):
        problem = check(change)
        if problem is not None:
            return problem
    return None


@lru_cache(_REMEMBERED)
def _checks(kind: str, parts: tuple[str, ...]) -> tuple[Check, ...]:
    """Return the checks that look at one of some parts."""
    return tuple(rule.check for rule in _RULES[kind] if not rule.parts.isdisjoint(parts))


def takes_any_text(resource: Resource, path: Sequence[str | int]) -> bool:
    """Return whether the API server takes whatever text there is at a place of a status.

    The path begins below the status; there is no rule for that part of it.
    """
    if any(path[0] in rule.parts for rule in _RULES[resource.kind]):
        return False
    word = f"{resource.kind}Status"
    for step in path:
        word = TYPES.get(word, {}).get(str(step), "") if isinstance(step, str) else word.strip("[]")
    return word == "str"


def changed_parts(known: Json, status: Json) -> list[str]:
    """Return the parts of a status that are others now, as unchanged ones are the same values."""
    parts = [name for name, value in status.items() if value is not known.get(name)]
    if not known.keys() <= status.keys():
        parts += known.keys() - status.keys()
    return parts
