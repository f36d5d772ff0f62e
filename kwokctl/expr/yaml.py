"""Reads and writes YAML as the Kubernetes tools do: the values are those that JSON can hold.

PyYAML's scanner does the work; its rules for what a scalar means are replaced by `scalars`.
"""

import base64
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from kwokctl.errors import ConfigError
from kwokctl.expr import yaml_scalars
from kwokctl.expr.nesting import MOST_DEPTH, TOO_DEEP
from kwokctl.json_value import Json

if TYPE_CHECKING:
    import re

    from yaml import (
        AliasEvent,
        Event,
        MappingStartEvent,
        Mark,
        Node,
        SafeDumper,
        ScalarEvent,
        SequenceStartEvent,
    )
    from yaml._yaml import Mark as FastMark

_MOST_REPEATED = 32 << 20
"""Letters for which the aliases of a document may stand; the memory that others need to write them out."""
_NODE = 32
"""Letters that a value counts beside those of its text."""
_MERGE = "<<"
_PREFIX = "tag:yaml.org,2002:"


def load(text: str) -> Json:
    """Return the only document of `text`, None if it is empty.

    Mapping keys are texts, whatever they look like. Raises ConfigError, with line and column, if
    the text is not YAML, holds more than one document, a key of a mapping twice, a value that
    JSON has not, levels or aliases without end.
    """
    found = documents(text)
    document = next(found, None)
    if next(found, _NOTHING) is not _NOTHING:
        raise ConfigError("more than one YAML document where one is expected")
    return document


def load_all(text: str) -> list[Json]:
    """Return every document of `text`, None for each empty one; errors as `load`."""
    return list(documents(text))


def dump(obj: Json, *, sort_keys: bool = False) -> str:
    """Return `obj`, made of JSON values, as one YAML document; keys keep their order, or are sorted.

    Every YAML reader gets the same values back: a text that any of them could take for something
    else is quoted. A text of several lines is a block.
    """
    return dump_all([obj], sort_keys=sort_keys)


def dump_all(objs: Iterable[Json], *, sort_keys: bool = False) -> str:
    """Return several documents, separated by `---` lines."""
    import yaml  # not needed by commands that write no file

    written = (
        yaml.dump(
            obj,
            Dumper=_dumper(),
            allow_unicode=True,
            default_flow_style=False,
            sort_keys=sort_keys,
            width=2**31 - 1,
        )
        for obj in objs
    )
    # A document that is a plain scalar is closed by a line of its own, which is omitted.
    return "---\n".join(text.removesuffix("...\n") for text in written)


_NOTHING = object()


@cache
def _dumper() -> "type[SafeDumper]":
    """Make the class that writes; built on first use, since it needs the YAML library."""
    import yaml  # see `dump_all`

    base: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)

    class Dumper(base):  # type: ignore[misc]  # the base is the fastest one there is
        def ignore_aliases(self, data: Json) -> bool:
            return True

    def text(dumper: "SafeDumper", value: str) -> "Node":
        style = "|" if "\n" in value.rstrip("\n") else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", str(value), style)

    def other(dumper: "SafeDumper", value: Json) -> "Node":
        if isinstance(value, Mapping):
            return dumper.represent_dict(dict(value))
        if isinstance(value, Sequence):
            return dumper.represent_list(list(value))
        raise TypeError(f"a {type(value).__name__} cannot be written as YAML")

    Dumper.add_representer(str, text)
    Dumper.add_multi_representer(str, text)
    Dumper.add_representer(None, other)
    # Beside PyYAML's own rules: quote what our reader, or one of YAML 1.2, would not read as text.
    Dumper.add_implicit_resolver("tag:yaml.org,2002:bool", _either(yaml_scalars.WORDS), None)
    Dumper.add_implicit_resolver(
        "tag:yaml.org,2002:float", yaml_scalars.NUMBER, list("+-.0123456789")
    )
    return Dumper


def _either(words: Iterable[str]) -> "re.Pattern[str]":
    import re  # only the writer needs it

    return re.compile("(?:" + "|".join(map(re.escape, words)) + r")\Z")


def documents(text: str) -> Iterator[Json]:
    """Yield the documents of `text`; raise ConfigError, with line and column, for an invalid one."""
    import yaml  # not needed by commands that read no file

    try:
        events = _events(yaml, text)
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                yield _Document(yaml, events).value(next(events))
    except yaml.MarkedYAMLError as e:
        raise ConfigError(f"{e.problem}{_at(e.problem_mark)}") from e
    except yaml.YAMLError as e:
        raise ConfigError(" ".join(str(e).split())) from e
    except RecursionError as e:
        raise ConfigError("the YAML is nested too deeply") from e


def _events(yaml: ModuleType, text: str) -> "Iterator[Event]":
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)
    try:
        while (event := loader.get_event()) is not None:
            yield event
    finally:
        loader.dispose()


def _at(mark: "Mark | FastMark | None") -> str:
    return f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""


class _Anchored(NamedTuple):
    """A value that aliases stand for."""

    value: Json
    size: int
    """Its letters, those of aliases within it included."""
    depth: int
    """The number of levels below it."""


class _Document:
    """One document under construction: remembers its anchors, and how large and deep it is."""

    def __init__(self, yaml: ModuleType, events: "Iterator[Event]") -> None:
        self._next: Callable[[], Event] = events.__next__
        self._anchors: dict[str, _Anchored | None] = {}
        self._make: Mapping[type[Event], Callable[[Any], Json]] = {
            yaml.ScalarEvent: self._scalar,
            yaml.SequenceStartEvent: self._sequence,
            yaml.MappingStartEvent: self._mapping,
        }
        self._ends = (yaml.SequenceEndEvent, yaml.MappingEndEvent)
        self._scalar_event: type[ScalarEvent] = yaml.ScalarEvent
        self._alias_event: type[AliasEvent] = yaml.AliasEvent
        self._size = self._repeated = self._depth = self._deepest = 0

    def value(self, event: Any) -> Json:
        if event.anchor is None:
            return self._make[type(event)](event)
        return self._alias(event) if type(event) is self._alias_event else self._anchored(event)

    def _anchored(self, event: Any) -> Json:
        """Return a value that has a name; the name means nothing until the value is whole."""
        name, size, deepest = event.anchor, self._size, self._deepest
        self._anchors[name] = None
        self._deepest = self._depth
        value = self._make[type(event)](event)
        self._anchors[name] = _Anchored(value, self._size - size, self._deepest - self._depth)
        self._deepest = max(deepest, self._deepest)
        return value

    def _alias(self, event: "AliasEvent") -> Json:
        if event.anchor not in self._anchors:
            raise ConfigError(f"unknown anchor '{event.anchor}'{_at(event.start_mark)}")
        anchored = self._anchors[event.anchor]
        if anchored is None:
            raise ConfigError(
                f"the alias '*{event.anchor}' is within the value that it stands for{_at(event.start_mark)}",
                hint="write the value itself here",
            )
        self._size += anchored.size
        self._repeated += anchored.size
        if self._repeated > _MOST_REPEATED:
            raise ConfigError(
                f"the aliases up to '*{event.anchor}' stand for more than "
                f"{_MOST_REPEATED >> 20} MiB{_at(event.start_mark)}",
                hint="write values out, or have fewer aliases of values that hold aliases",
            )
        self._reach(self._depth + anchored.depth, event)
        return anchored.value

    def _reach(self, depth: int, event: Any) -> None:
        if depth > MOST_DEPTH:
            raise ConfigError(f"{TOO_DEEP}{_at(event.start_mark)}", hint="nest less deeply")
        self._deepest = max(self._deepest, depth)

    def _scalar(self, event: "ScalarEvent") -> Json:
        self._size += _NODE + len(event.value)
        try:
            return _scalar(event)
        except ValueError as e:
            raise ConfigError(f"{e}{_at(event.start_mark)}") from e

    def _sequence(self, event: "SequenceStartEvent") -> list[Json]:
        items: list[Json] = []
        self._begin(event)
        while not isinstance(inner := self._next(), self._ends):
            items.append(self.value(inner))
        self._depth -= 1
        return items

    def _begin(self, event: Any) -> None:
        self._size += _NODE
        self._depth += 1
        self._reach(self._depth, event)

    def _mapping(self, event: "MappingStartEvent") -> dict[str, Json]:
        mapping: dict[str, Json] = {}
        merged: list[dict[str, Json]] = []
        self._begin(event)
        while not isinstance(inner := self._next(), self._ends):
            if self._is_merge(inner):
                merged += self._merged(self._next())
                continue
            key = self.value(inner)
            if type(key) is not str:
                key = self._key(key, inner)
            if key in mapping:
                raise ConfigError(
                    f"the key '{key}' is repeated{_at(inner.start_mark)}",
                    hint="remove one of the two, or separate documents with a line of '---'",
                )
            mapping[key] = self.value(self._next())
        self._depth -= 1
        for other in merged:
            for key, value in other.items():
                mapping.setdefault(key, value)
        return mapping

    def _is_merge(self, event: "Event") -> bool:
        return (
            type(event) is self._scalar_event
            and event.value == _MERGE
            and (event.implicit[0] or event.tag == f"{_PREFIX}merge")
        )

    def _merged(self, event: "Event") -> list[dict[str, Json]]:
        value = self.value(event)
        items = value if isinstance(value, list) else [value]
        if not all(isinstance(item, dict) for item in items):
            raise ConfigError(f"only mappings can be merged by '<<'{_at(event.start_mark)}")
        return items

    def _key(self, key: Json, event: "Event") -> str:
        try:
            return yaml_scalars.key(key)
        except ValueError as e:
            raise ConfigError(f"{e}{_at(event.start_mark)}") from e


def _scalar(event: "ScalarEvent") -> Json:
    plain, _ = event.implicit
    value, tag = event.value, event.tag
    if plain and tag is None:
        return yaml_scalars.resolve(value)
    if tag is None or tag in ("!", f"{_PREFIX}str", f"{_PREFIX}timestamp"):
        return value
    kind = tag.removeprefix(_PREFIX)
    if kind == "binary":
        return base64.b64decode(value).decode()
    wanted = _KINDS.get(kind)
    if wanted is None:
        raise ValueError(f"the tag '{tag}' is not known here")
    found = yaml_scalars.resolve(value)
    if kind == "float" and type(found) is int:
        return found
    if type(found) is not wanted:
        raise ValueError(f"'{value}' is no {kind}")
    return found


_KINDS: dict[str, type] = {"int": int, "float": float, "bool": bool, "null": type(None)}
