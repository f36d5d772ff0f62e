"""Conditions on fields that objects of their kind do not have, or whose values can never match."""

import re
from collections.abc import Iterator

from kwokctl.clusters.stage_tools.rules import expression_of
from kwokctl.config.nearest import did_you_mean
from kwokctl.controller.stages.model import Kind, Stage
from kwokctl.controller.stages.selectors import Requirement
from kwokctl.expr.cel import cel_types

_KINDS = (Kind("v1", "Node"), Kind("v1", "Pod"))
_PATH = re.compile(r"(?:\.(?:[A-Za-z][A-Za-z0-9]*|\[\d*\])|\[\d*\])+", re.ASCII)
_PART = re.compile(r"[A-Za-z][A-Za-z0-9]*|\[\d*\]", re.ASCII)
_TYPE_FIELDS = frozenset({"apiVersion", "kind"})


def wrong_fields(stage: Stage) -> Iterator[tuple[int, str]]:
    """Yield each condition in jq on a field that does not exist, by its place, and what is wrong.

    Only paths are looked at, such as `.status.conditions.[].type`, and only those of nodes and pods.
    """
    if stage.kind not in _KINDS or stage.selector is None:
        return
    for index, rule in enumerate(stage.selector.conditions):
        path = expression_of(rule)
        if _PATH.fullmatch(path) and (why := _wrong(stage.kind.name, path, rule)):
            yield index, why


def _wrong(kind: str, path: str, rule: Requirement) -> str:
    """Follow a path from struct to struct, as far as its types are known."""
    found = cel_types.struct(kind)
    for part in _PART.findall(path):
        if part.startswith("["):
            if found.kind not in {"list", "map"}:
                return ""
            found = found.params[-1]
            continue
        known = cel_types.fields(found.name) if found.kind == "struct" else {}
        if not known:
            return ""
        if part not in known:
            return "" if part in _TYPE_FIELDS else _unknown(part, kind, list(known))
        found = known[part]
    if found.kind == "int" and rule.operator in {"In", "NotIn"}:
        return "never equals a value: it returns a number, and values are strings; add '| tostring'"
    if found.kind == "bool" and rule.operator == "In" and not rule.values & {"true", "false"}:
        return "never equals a value: it returns true or false, which are written in lower case"
    return ""


def _unknown(part: str, kind: str, known: list[str]) -> str:
    hint = did_you_mean(part, known) or f"fields there are: {', '.join(known)}"
    return f"reads '{part}', which a {kind} does not have at this place; {hint}"
