"""Applies rules to objects. Pure."""

import secrets
from collections.abc import Callable, Sequence

from kwokctl.clusters.object_files.rules.field_names import CustomFields, DeclaredFields
from kwokctl.clusters.object_files.rules.pseudonyms import Pseudonyms
from kwokctl.clusters.object_files.rules.rules_file import FieldAction, FieldRule, SnapshotRules
from kwokctl.clusters.object_files.rules.twin import (
    SELECTOR,
    USER_MAPS,
    RuleSubject,
    hides,
    twin_action,
)
from kwokctl.json_value import Json

_Path = tuple[str, ...]
_PORTS = (("ports", "name"), ("ports", "targetPort"))
"""Names of ports, which may have 15 letters."""
_FAKE = {"kwok.x-k8s.io/node": "fake"}
_ANY, _SOME = "*", "**"


class Scrubber:
    """Makes of objects what may leave their cluster."""

    def __init__(self, rules: SnapshotRules, salt: str, custom: CustomFields | None = None) -> None:
        """Use the salt of the rules, or else this one; `custom` are the fields of custom resources."""
        self._rules = rules
        self._custom = custom or {}
        self._names = Pseudonyms(rules.salt or salt)
        self._known: dict[tuple[RuleSubject, _Path], FieldAction | None] = {}

    def scrubbed(self, value: dict[str, Json]) -> dict[str, Json] | None:
        """Return an object as it may be written; None if it may not."""
        api_version, kind = str(value["apiVersion"]), str(value["kind"])
        subject = RuleSubject.of(api_version, kind)
        if any(rule.drop for rule in self._of(kind)):
            return None
        head = {name: value[name] for name in ("apiVersion", "kind")}
        walk = _Walk(subject, self._action, self._text(subject))
        found = head | walk.fields(value, (), self._fields_of(subject, api_version))
        for rule in self._of(kind):
            for path, wanted in rule.set.items():
                _put(found, path.split("."), wanted)
        if kind == "Node" and self._rules.nodes == "fake":
            metadata = found["metadata"]
            metadata["annotations"] = {**(metadata.get("annotations") or {}), **_FAKE}
        if kind == "PersistentVolume" and self._rules.base == "twin":
            found["spec"].setdefault("hostPath", {"path": "/twin"})
        return found

    def _fields_of(self, subject: RuleSubject, api_version: str) -> DeclaredFields | None:
        """Return the declared fields of a custom resource; a twin hides all other names in it."""
        if not subject.is_custom or self._rules.base != "twin":
            return None
        return self._custom.get((api_version, subject.kind), DeclaredFields(is_object=True))

    def _of(self, kind: str) -> list[FieldRule]:
        return [rule for rule in self._rules.rules if not rule.kinds or kind in rule.kinds]

    def _action(self, subject: RuleSubject, path: _Path) -> FieldAction | None:
        key = (subject, path)
        if key not in self._known:
            self._known[key] = self._decided(subject, path)
        return self._known[key]

    def _decided(self, subject: RuleSubject, path: _Path) -> FieldAction | None:
        for rule in self._of(subject.kind):
            for action in FieldAction:
                patterns: Sequence[str] = getattr(rule, action)
                if any(_matches(pattern.split("."), path) for pattern in patterns):
                    return action
        return twin_action(subject, path) if self._rules.base == "twin" else None

    def _text(self, subject: RuleSubject) -> Callable[[str, _Path, bool], str]:
        is_twin = self._rules.base == "twin"

        def text(value: str, path: _Path, is_hashed: bool) -> str:  # noqa: FBT001 - a callback
            if not is_hashed and not (is_twin and hides(subject, path, value)):
                return value
            return self._names.whole(value) if path[-2:] in _PORTS else self._names.word(value)

        return text


class _Walk:
    """One way through an object."""

    def __init__(
        self,
        subject: RuleSubject,
        action: Callable[[RuleSubject, _Path], FieldAction | None],
        text: Callable[[str, _Path, bool], str],
    ) -> None:
        self._subject = subject
        self._action = action
        self._text = text

    def fields(
        self,
        value: dict[str, Json],
        path: _Path,
        declared: DeclaredFields | None,
        *,
        is_hashed: bool = False,
    ) -> dict[str, Json]:
        is_map = bool(path) and _is_map(path[-1], value)
        found: dict[str, Json] = {}
        for name, each in value.items():
            below = (*path, name)
            action = self._action(self._subject, below)
            if action is FieldAction.KEEP:
                found[name] = each
            elif action is not FieldAction.STRIP:
                hashed = is_hashed or action is FieldAction.HASH
                is_key = is_map or (declared is not None and not declared.declares(name))
                key = self._text(name, path, hashed) if is_key else name
                inner = declared.below(name) if declared else None
                found[key] = self._value(each, below, inner, is_hashed=hashed)
        return found

    def _value(
        self, value: Json, path: _Path, declared: DeclaredFields | None, *, is_hashed: bool
    ) -> Json:
        if isinstance(value, dict):
            return self.fields(value, path, declared, is_hashed=is_hashed)
        if isinstance(value, list):
            inner = declared.item() if declared else None
            return [self._value(each, path, inner, is_hashed=is_hashed) for each in value]
        return self._text(value, path, is_hashed) if isinstance(value, str) else value


def fresh_salt() -> str:
    """Return a salt that no other export has."""
    return secrets.token_hex(16)


def _is_map(name: str, value: dict[str, Json]) -> bool:
    if name in USER_MAPS:
        return True
    return name == SELECTOR and all(isinstance(each, str) for each in value.values())


def _matches(pattern: Sequence[str], path: Sequence[str]) -> bool:
    if not pattern:
        return not path
    first, rest = pattern[0], pattern[1:]
    if first == _SOME:
        return any(_matches(rest, path[start:]) for start in range(len(path) + 1))
    return bool(path) and first in (_ANY, path[0]) and _matches(rest, path[1:])


def _put(value: dict[str, Json], path: Sequence[str], wanted: Json) -> None:
    for name in path[:-1]:
        below = value[name] if isinstance(value.get(name), dict) else {}
        value[name] = value = dict(below)
    value[path[-1]] = wanted
