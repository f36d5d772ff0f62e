"""The places among the figures of a run, and what all figures have in common."""

from collections.abc import Mapping
from typing import Generic, Self, TypeVar, overload

from kwokctl.config.nearest import did_you_mean
from kwokctl.errors import NotFoundError
from kwokctl.measure.figures.values import (
    Bounds,
    Durations,
    Levels,
    Missing,
    Series,
    SingleNumber,
    Value,
)
from kwokctl.measure.judging.assertions import number_of, part_of
from kwokctl.measure.reports.report import FigureReport, Figures
from kwokctl.measure.reports.words import number

V = TypeVar("V", bound=Value)


class FigurePlace:
    """A place among the figures of a run: one figure, or all whose names begin alike."""

    def __init__(self, figures: Figures, name: str) -> None:
        """Look at `figures`; `name` is that of the figure, or what names begin with."""
        self._figures, self._name = figures, name

    @property
    def name(self) -> str:
        """Its name in assertions, such as `pods.created_to_bound`."""
        return self._name

    def known(self) -> Figures:
        """Return the figures among which it is."""
        return self._figures

    def below(self, name: str, kind: "type[P]") -> "P":
        """Return what is below this place under a name."""
        return kind(self.known(), f"{self._name}.{name}" if self._name else name)

    def __repr__(self) -> str:
        return f"<figures {self._name}.…>" if self._name else "<figures of a run>"


P = TypeVar("P", bound=FigurePlace)


class Named(Generic[P]):
    """An attribute of a place: what is below it, under the name of the attribute."""

    def __init__(self, kind: type[P]) -> None:
        self._kind = kind
        self._attribute = ""

    def __set_name__(self, _owner: type, name: str) -> None:
        self._attribute = name

    @overload
    def __get__(self, place: None, owner: type) -> Self: ...

    @overload
    def __get__(self, place: FigurePlace, owner: type) -> P: ...

    def __get__(self, place: FigurePlace | None, owner: type) -> Self | P:
        """Return what is below a place; of the class, the attribute itself."""
        return self if place is None else place.below(self._attribute, self._kind)


class FiguresByName(FigurePlace, Generic[P]):
    """Figures whose names end in one that the run has brought, such as that of a device."""

    _kind: type[P]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of those that there are."""
        head = f"{self._name}."
        return tuple(each.removeprefix(head) for each in self.known() if each.startswith(head))

    def __getitem__(self, name: str) -> P:
        """Return a figure; NotFoundError, with those that there are, for another name."""
        if name not in self.names:
            near = did_you_mean(name, self.names)
            raise NotFoundError(
                f"there is no figure '{self._name}.{name}'",
                hint=near or f"there are: {', '.join(self.names) or 'none'}",
            )
        return self.below(name, self._kind)


class ReportedFigure(FigurePlace):
    """One figure. A number that was not measured is NotFoundError, which says why."""

    @property
    def unit(self) -> str:
        """The unit: `s`, `/s`, `%`, `B`, or empty for a count."""
        return self._found.unit

    @property
    def title(self) -> str:
        """Its meaning."""
        return self._found.title

    @property
    def is_measured(self) -> bool:
        """Whether it has a value."""
        return not self.why

    @property
    def why(self) -> str:
        """The reason why it was not measured; empty if it was."""
        value = self._found.value
        return value.why if isinstance(value, Missing) else ""

    @property
    def _found(self) -> FigureReport:
        found = self.known().get(self._name)
        if found is None:
            raise NotFoundError(f"there is no figure '{self._name}' here")
        return found

    def _value(self) -> Value:
        """Return the value; NotFoundError if there is none."""
        value = self._found.value
        if isinstance(value, Missing):
            raise self._unmeasured("", value.why)
        return value

    def _statistic(self, word: str) -> float:
        found = number_of(self._found.value, word)
        if isinstance(found, str):
            raise self._unmeasured("" if word == _ONLY else f".{word}", found)
        return float(found)

    def _unmeasured(self, statistic: str, why: str) -> NotFoundError:
        return NotFoundError(f"'{self._name}{statistic}' was not measured: {why}")

    def _as(self, kind: type[V]) -> V:
        """Return the value, which is of this kind if it is there."""
        value = self._value()
        if not isinstance(value, kind):
            raise self._unmeasured("", f"its value is {value!r}")
        return value

    def _part(self, name: str) -> Self:
        """Return a part of the value as a figure of its own; NotFoundError if there is no such part."""
        of = self._found
        value = part_of(of.value, name, of.parts or "name")
        if isinstance(value, Missing):
            raise self._unmeasured(f"[{of.parts}={name}]", value.why)
        whole = f"{self._name}[{of.parts}={name}]"
        return type(self)({whole: FigureReport(title=of.title, unit=of.unit, value=value)}, whole)

    def __repr__(self) -> str:
        value = self._found.value
        if isinstance(value, Missing):
            return f"{self._name}: not measured: {value.why}"
        numbers = (f"{word} {self._text(word)}" for word in _SHOWN[type(value)])
        return f"{self._name}: {', '.join(numbers)}".replace(f"{_ONLY} ", "")

    def _text(self, word: str) -> str:
        found = number_of(self._found.value, word)
        if isinstance(found, str):
            return "?"
        return number(found, "" if word == "count" else self._found.unit)


_ONLY = "value"
"""The statistic of a figure that is a single number."""
_SHOWN: Mapping[type[Value], tuple[str, ...]] = {
    SingleNumber: (_ONLY,),
    Durations: ("count", "p50", "p90", "p99", "max"),
    Series: ("count", "peak", "sustained"),
    Levels: ("mean", "min", "max", "last"),
    Bounds: ("count", "p50", "p90", "p99"),
}
"""The statistics that the text of a figure shows."""
