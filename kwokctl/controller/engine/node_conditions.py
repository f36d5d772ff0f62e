"""Merges conditions that a Stage renders into those of a node; no other module does.

Conditions come in layers: those of a healthy fake kubelet, and above them those that Stages have set. A rendered
condition with a status, a reason or a message is a statement, which is written. A rendered condition with
only times is a heartbeat: it repeats the topmost layer, and is left out if another program has set a
different condition. What faults show lies above both, and is not seen here.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from kwokctl.controller.stages.stage_functions import NODE_CONDITIONS
from kwokctl.errors import ExpressionError
from kwokctl.expr.duration import format_time, parse_time
from kwokctl.json_value import Json
from kwokctl.kube.client import PatchType


class ConditionText(NamedTuple):
    """The status, reason and message that a layer gives a condition."""

    status: str
    reason: str
    message: str


_HEALTHY = {kind: ConditionText(*words) for kind, *words in NODE_CONDITIONS}
_SILENCE = frozenset({"NodeStatusUnknown", "NodeStatusNeverUpdated"})
"""Reasons that the controller-manager gives the conditions of a silent node.

Source: monitorNodeHealth in pkg/controller/nodelifecycle of Kubernetes.
"""
_MOST_REMEMBERED = 256
_TRANSITION = "lastTransitionTime"


class ConditionComposer:
    """Completes the conditions that Stages render, so that they can be sent.

    No state is kept for single nodes. The last statements of Stages are cached for all nodes together, so
    that heartbeats recognize them; conditions that were evicted from the cache get no new times.
    """

    def __init__(self) -> None:
        self._remembered: dict[tuple[str, ConditionText], None] = {}

    @property
    def has_learnt(self) -> bool:
        """Whether a Stage has set a condition that no healthy kubelet reports."""
        return bool(self._remembered)

    def compose(self, node: Json, document: Json, patch_type: PatchType, now: float) -> Json:
        """Return the patch to send in place of `document`, given the present `node`.

        `now` is the time of day as a POSIX time stamp. JSON patches, and conditions that are not a
        plain list, are returned unchanged.
        """
        items = _conditions_in(document, patch_type)
        if not items:
            return document
        known = {have.get("type"): have for have in node.get("status", {}).get("conditions") or ()}
        born = node["metadata"].get("creationTimestamp")
        replaces = patch_type is PatchType.MERGE
        composed = []
        for item in items:
            have = known.get(item["type"])
            merged = self._merged(item, have, replaces=replaces)
            if merged is not None:
                merged = _dated(merged, have, born, now)
            if have is not None and replaces:
                merged = _completed(merged, item, have)
            if merged is not None:
                composed.append(merged)
        status = {**document["status"], "conditions": composed}
        if not composed:
            del status["conditions"]
        return {**document, "status": status}

    def _merged(self, item: Json, have: Json, *, replaces: bool) -> Json | None:
        """Return the condition for a rendered item; None to keep the current one."""
        if _is_report(item):
            return self._report(item, have)
        words = _words(item if replaces or have is None else {**have, **item})
        if have is None or words != _words(have):
            self._remember(item["type"], words)
        return item

    def _report(self, item: Json, have: Json) -> Json | None:
        kind = item["type"]
        top = _HEALTHY.get(kind)
        if top is None:  # a type that only the Stage names
            return item
        if have is None or have.get("reason") in _SILENCE:
            return _in_full(item, top)
        words = _words(have)
        if words == top:
            return item
        if words != _HEALTHY.get(kind) and (kind, words) not in self._remembered:
            return None
        return item

    def _remember(self, kind: str, words: ConditionText) -> None:
        if words == _HEALTHY.get(kind):
            return
        self._remembered[kind, words] = None
        if len(self._remembered) > _MOST_REMEMBERED:
            del self._remembered[next(iter(self._remembered))]


def _conditions_in(document: Json, patch_type: PatchType) -> Sequence[Json] | None:
    """Return the conditions of a patch if they are a plain list without directives, else None."""
    if patch_type not in {PatchType.STRATEGIC, PatchType.MERGE} or not isinstance(document, dict):
        return None
    status = document.get("status")
    items = status.get("conditions") if isinstance(status, dict) else None
    if not isinstance(items, list) or not all(map(_is_plain, items)):
        return None
    return items


def _is_plain(item: Json) -> bool:
    if not isinstance(item, dict) or not isinstance(item.get("type"), str) or "$patch" in item:
        return False
    get = item.get
    # A loop, because `all` would create a generator for each condition.
    return (
        isinstance(get("status", ""), str)
        and isinstance(get("reason", ""), str)
        and isinstance(get("message", ""), str)
    )


def _is_report(item: Json) -> bool:
    return "status" not in item and "reason" not in item and "message" not in item


def _words(condition: Json) -> ConditionText:
    get = condition.get
    return ConditionText(get("status") or "", get("reason") or "", get("message") or "")


def _in_full(item: Json, words: ConditionText) -> Json:
    return {**item, "status": words.status, "reason": words.reason, "message": words.message}


def _dated(said: Json, have: Json, born: str | None, now: float) -> Json:
    """Return a condition with a transition time if its status changes, without one otherwise."""
    since = None if have is None else have.get(_TRANSITION)
    if since and said.get("status", have.get("status")) == have.get("status"):
        return {name: said[name] for name in said if name != _TRANSITION}
    rendered = said.get(_TRANSITION)
    if rendered and _is_between(since or born, rendered, now):
        return said
    return {**said, _TRANSITION: _text(now)}


def _is_between(earlier: str | None, rendered: Json, now: float) -> bool:
    """Return whether a rendered time is later than the previous one, and not in the future."""
    try:
        moment = _moment(str(rendered))
        return moment <= now and (earlier is None or moment > _moment(earlier))
    except ExpressionError:
        return False


# The conditions of a node often have the same times.
_moment = lru_cache(maxsize=64)(parse_time)
_text = lru_cache(maxsize=64)(format_time)


def _completed(said: Json | None, item: Json, have: Json) -> Json:
    """Add to a condition the present fields that replacing the whole list would remove."""
    if said is None or _is_report(item):
        return {**have, **(said or {})}
    return said if _TRANSITION in said else {**said, _TRANSITION: have.get(_TRANSITION)}
