"""Objects from rendered templates without parsing YAML each time.

A skeleton is a rendered template with placeholders for its values (`emission`). As it depends on
branches only, a template has few; each is parsed once and becomes a Python function that builds the
object from the values. What such a function cannot do right is left to the YAML reader: values in
comments, in block headers, beside anchors or tags.
"""

import re
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any

from kwokctl.expr import yaml_scalars
from kwokctl.expr.gotemplate.emission import BLOCK, OBJECT, QUOTED, RAW, SPOILED, Values
from kwokctl.expr.gotemplate.go.formatting import from_yaml

if TYPE_CHECKING:
    from yaml import Event

Builder = Callable[[Values], object]

_MOST = 128
_LONGEST = 50_000
"""Letters of a skeleton: to compile the code for one takes ten times as long as to parse it."""
_MARKS = re.compile(f"([{RAW}{QUOTED}{OBJECT}{BLOCK}])")
_FLOW = 1_000_000
_UNFIT = "the skeleton says something that no builder can do"
_BLOCK = re.compile(f"{BLOCK}([0-9]+)\\Z")


class RepeatedKeyError(ValueError):
    """A mapping has a key twice; the YAML reader reports where."""


def distinct(number: int, mapping: dict[str, object]) -> dict[str, object]:
    """Return a mapping that was built from a number of keys; raise RepeatedKeyError if it has fewer."""
    if len(mapping) != number:
        raise RepeatedKeyError
    return mapping


NAMES: Mapping[str, Callable[..., object]] = {
    "resolve": yaml_scalars.resolve,
    "key": yaml_scalars.key,
    "copied": from_yaml,
    "distinct": distinct,
}
"""The functions that the code of a builder calls."""


class Skeletons:
    """A cache of the skeletons of one template, which forgets the least recently used ones."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: OrderedDict[str, Builder | None] = OrderedDict()

    def builder(self, skeleton: str) -> Builder | None:
        """Return what builds the object, None if its text must be parsed.

        A skeleton is worth the work when it comes the second time: one with a text in it that is
        another for every object never does. Nor does a long one.
        """
        if len(skeleton) > _LONGEST:
            return None
        known = self._known
        try:
            found = known[skeleton]
        except KeyError:
            known[skeleton] = _first_time
            if len(known) > _MOST:
                known.popitem(last=False)
            return None
        known.move_to_end(skeleton)
        if found is _first_time:
            found = known[skeleton] = build(skeleton)
        return found


def _first_time(values: Values) -> object:
    """Act as the builder of a skeleton that has been seen once."""
    raise AssertionError(values)


def build(skeleton: str, calls: Mapping[str, Callable[..., object]] = NAMES) -> Builder | None:
    """Return the function for a skeleton, None if there can be none."""
    import yaml  # most commands render nothing

    if SPOILED in skeleton:
        return None
    names = dict(calls)
    try:
        source = _Writer(yaml, skeleton).source()
        exec(f"def build(v):\n return {source}", names)  # noqa: S102 - written here, texts by repr
    except (yaml.YAMLError, ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    builder: Builder = names["build"]
    return builder


class _Writer:
    """Writes the expression that builds a skeleton's object."""

    def __init__(self, yaml: ModuleType, skeleton: str) -> None:
        self._yaml = yaml
        self._wanted = len(_MARKS.findall(skeleton))
        self._used = 0
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(skeleton)
        self._events: Iterator[Event] = iter(loader.get_event, None)

    def source(self) -> str:
        yaml = self._yaml
        events = list(self._events)
        documents = sum(isinstance(event, yaml.DocumentStartEvent) for event in events)
        if documents > 1:
            raise ValueError(_UNFIT)
        if not documents:
            return "None"
        self._events = iter(events)
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                break
        source = self._node(next(self._events), -1)
        if self._used != self._wanted:
            raise ValueError(_UNFIT)
        return source

    def _node(self, event: Any, column: int) -> str:
        """Write a node; `column` is where its parent begins, a large one for no block."""
        yaml = self._yaml
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None or event.tag is not None:
            raise ValueError(_UNFIT)
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event, column)
        inner = _FLOW if event.flow_style else event.start_mark.column
        if isinstance(event, yaml.SequenceStartEvent):
            return f"[{', '.join(self._sequence(inner))}]"
        return self._mapping(inner)

    def _sequence(self, column: int) -> Iterator[str]:
        while not isinstance(event := next(self._events), self._yaml.SequenceEndEvent):
            yield self._node(event, column)

    def _mapping(self, column: int) -> str:
        keys: list[str] = []
        values: list[str] = []
        taken = 0
        while not isinstance(event := next(self._events), self._yaml.MappingEndEvent):
            before = self._used
            keys.append(self._key(event))
            taken += self._used - before
            values.append(self._node(next(self._events), column))
        written = ", ".join(f"{key}: {value}" for key, value in zip(keys, values, strict=True))
        if taken and len(keys) > 1:
            return f"distinct({len(keys)}, {{{written}}})"
        if len(set(keys)) < len(keys):
            raise ValueError(_UNFIT)
        return f"{{{written}}}"

    def _key(self, event: Any) -> str:
        value = getattr(event, "value", OBJECT)  # a key that is no scalar is as unfit
        if OBJECT in value or BLOCK in value or value == "<<":
            raise ValueError(_UNFIT)
        source = self._node(event, _FLOW)
        if not event.implicit[0]:
            return source
        return (
            f"key({source})"
            if RAW in value
            else repr(yaml_scalars.key(yaml_scalars.resolve(value)))
        )

    def _scalar(self, event: Any, column: int) -> str:
        value = event.value
        if event.style == '"' and value in {QUOTED, OBJECT}:
            return self._take() if value == QUOTED else f"copied({self._take()})"
        block = _BLOCK.match(value) if event.style == '"' else None
        if block is not None and _fits(int(block[1]), event.start_mark.column, column):
            return f"copied({self._take()})"
        if QUOTED in value or OBJECT in value or BLOCK in value:
            raise ValueError(_UNFIT)
        if not event.implicit[0]:
            return self._text(value)
        return (
            f"resolve({self._text(value)})" if RAW in value else repr(yaml_scalars.resolve(value))
        )

    def _text(self, value: str) -> str:
        """Return the expression for a text with values in it."""
        parts = (
            self._take() if part == RAW else repr(part) for part in _MARKS.split(value) if part
        )
        return " + ".join(parts) or "''"

    def _take(self) -> str:
        """Return the next value: they are in the order in which they were written."""
        self._used += 1
        return f"v[{self._used - 1}]"


def _fits(levels: int, start: int, column: int) -> bool:
    """Return whether YAML is a whole node: its lines are indented more than those of the parent.

    Without levels, its first line is at the placeholder, the others are at the margin.
    """
    return 2 * levels > column and (levels > 0 or start == 0)
