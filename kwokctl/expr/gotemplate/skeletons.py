"""Objects from rendered templates without parsing YAML each time.

A skeleton is a rendered template with placeholders for its values (`emission`). As it depends on
branches only, a template has few; each is parsed once and becomes a Python function that builds the
object from the values. What such a function cannot do right is left to the YAML reader: values in
comments, in block headers, beside anchors or tags.
"""

import re
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

from kwokctl.expr import scalars
from kwokctl.expr.gotemplate.emission import OBJECT, QUOTED, RAW, SPOILED, Values, is_marked

Builder = Callable[[Values], Any]

_MOST = 128
_MARKS = re.compile(f"([{RAW}{QUOTED}{OBJECT}])")
_NAMES = {"resolve": scalars.resolve, "key": lambda text: scalars.key(scalars.resolve(text))}


class Skeletons:
    """The skeletons of one template, the least recently used of which are forgotten."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        """Know none yet."""
        self._known: OrderedDict[str, Builder | None] = OrderedDict()

    def builder(self, skeleton: str) -> Builder | None:
        """Return what builds the object, None if its text must be parsed.

        A skeleton is worth the work when it comes the second time: one with a text in it that is
        another for every object never does.
        """
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


def _first_time(values: Values) -> Any:
    """Stand in for the builder of a skeleton that has been seen once."""
    raise AssertionError(values)


def build(skeleton: str) -> Builder | None:
    """Return the function for a skeleton, None if there can be none."""
    import yaml  # noqa: PLC0415 - nothing is rendered on the way of most commands

    if SPOILED in skeleton:
        return None
    names: dict[str, Any] = dict(_NAMES)
    try:
        source = _Writer(yaml, skeleton).source()
        exec(f"def build(v):\n return {source}", names)  # noqa: S102 - written here, texts by repr
    except (yaml.YAMLError, _UnfitError, ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    builder: Builder = names["build"]
    return builder


class _UnfitError(Exception):
    """The skeleton says something that no builder can do."""


class _Writer:
    """Writes the expression that builds a skeleton's object."""

    def __init__(self, yaml: Any, skeleton: str) -> None:
        self._yaml = yaml
        self._wanted = len(_MARKS.findall(skeleton))
        self._used = 0
        loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(skeleton)
        self._events: Iterator[Any] = iter(loader.get_event, None)

    def source(self) -> str:
        yaml = self._yaml
        events = list(self._events)
        documents = sum(isinstance(event, yaml.DocumentStartEvent) for event in events)
        if documents > 1:
            raise _UnfitError
        if not documents:
            return "None"
        self._events = iter(events)
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                break
        source = self._node(next(self._events))
        if self._used != self._wanted:
            raise _UnfitError
        return source

    def _node(self, event: Any) -> str:
        yaml = self._yaml
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
            raise _UnfitError
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event)
        if event.tag is not None:
            raise _UnfitError
        if isinstance(event, yaml.SequenceStartEvent):
            return f"[{', '.join(self._sequence())}]"
        return f"{{{', '.join(self._mapping())}}}"

    def _sequence(self) -> Iterator[str]:
        while not isinstance(event := next(self._events), self._yaml.SequenceEndEvent):
            yield self._node(event)

    def _mapping(self) -> Iterator[str]:
        while not isinstance(event := next(self._events), self._yaml.MappingEndEvent):
            key = self._key(event)
            yield f"{key}: {self._node(next(self._events))}"

    def _key(self, event: Any) -> str:
        if not isinstance(event, self._yaml.ScalarEvent) or OBJECT in event.value:
            raise _UnfitError
        if event.value == "<<" or event.anchor is not None:
            raise _UnfitError
        if not event.implicit[0]:
            return self._scalar(event)
        if is_marked(event.value):
            return f"key({self._text(event.value)})"
        return repr(scalars.key(scalars.resolve(event.value)))

    def _scalar(self, event: Any) -> str:
        value = event.value
        if event.tag is not None:
            raise _UnfitError
        if value in {QUOTED, OBJECT} and event.style == '"':
            return self._take()
        if QUOTED in value or OBJECT in value:
            raise _UnfitError
        if not event.implicit[0]:
            return self._text(value)
        if RAW not in value:
            return repr(scalars.resolve(value))
        return f"resolve({self._text(value)})"

    def _text(self, value: str) -> str:
        """Return the expression for a text with values in it."""
        parts = (
            self._take() if part == RAW else repr(part) for part in _MARKS.split(value) if part
        )
        return " + ".join(parts) or "''"

    def _take(self) -> str:
        """Return the next value: they stand in the order in which they were written."""
        self._used += 1
        return f"v[{self._used - 1}]"
