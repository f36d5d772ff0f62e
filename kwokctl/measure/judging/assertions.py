"""Assertions on figures: `pods.created_to_bound.p99 < 5s`.

An assertion is read before anything is measured. One on a figure that could not be measured fails.
"""

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal

import msgspec

from kwokctl.config.nearest import did_you_mean
from kwokctl.errors import UsageError
from kwokctl.measure.figures.figure import Figure, RunView
from kwokctl.measure.figures.figure_catalogue import STATISTICS, groups
from kwokctl.measure.figures.fleet import figure_of_device
from kwokctl.measure.figures.values import (
    Bounds,
    Durations,
    Levels,
    Missing,
    Series,
    SingleNumber,
    Value,
)
from kwokctl.measure.grouping.pod_groups import GROUPS

_FORM = re.compile(
    r"\s*(?P<name>[a-zA-Z0-9_./-]+)(?P<group>\[[^\]]*\])?(?P<statistic>\.[a-z0-9_]+)?"
    r"\s*(?P<compare>[<>=!]=?)?\s*(?P<value>\S+)?\s*(?P<rest>.*)",
    re.DOTALL,
)
_COMPARE: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_VALUE = re.compile(r"(-?[0-9]+(?:\.[0-9]+)?(?:e-?[0-9]+)?)([a-zA-Z%/]*)")
_ONE = Decimal(1)
_UNITS = {
    "s": {
        "": _ONE,
        "s": _ONE,
        "ms": Decimal("1e-3"),
        "us": Decimal("1e-6"),
        "m": Decimal(60),
        "h": Decimal(3600),
    },
    "%": {"": _ONE, "%": _ONE},
    "/s": {"": _ONE, "/s": _ONE},
    "B": {
        "": _ONE,
        "B": _ONE,
        **{f"{prefix}i": Decimal(1024) ** power for power, prefix in enumerate("KMGT", 1)},
    },
    "": {"": _ONE},
}
_EXAMPLE = "for example: 'pods.created_to_bound.p99 < 5s'"
_EXAMPLES = {"distribution": "p99", "series": "peak", "levels": "max", "bounds": "p99"}
"""A statistic of each form of a figure."""
_NUMBER_EXAMPLE = "for example: 'pods.created_to_bound.p99'"


class FigureNumber(msgspec.Struct, frozen=True, kw_only=True):
    """One number of a run: a statistic of a figure, perhaps of one group."""

    text: str
    figure: Figure
    statistic: str
    group: tuple[str, str] | None = None
    """The key and the value that pods must have, as in `load=web`; or the part of the figure that is meant."""

    @property
    def part(self) -> str:
        """The part of the figure that is meant; empty for all of it."""
        return self.group[1] if self.group and self.group[0] == self.figure.parts else ""

    def of(self, view: RunView) -> float | str:
        """Return the number, or why there is none."""
        return number_of(self._value(view), self.statistic)

    def _value(self, view: RunView) -> Value:
        if self.part:
            return part_of(self.figure.value(view), self.part, self.figure.parts)
        found = _in_group(view, self.group)
        return Missing(found) if isinstance(found, str) else self.figure.value(found)


class Assertion(FigureNumber, frozen=True, kw_only=True):
    """One comparison of a figure with a value."""

    compare: str
    limit: float

    def holds(self, actual: float) -> bool:
        """Return whether a value is as it must be."""
        return _COMPARE[self.compare](actual, self.limit)


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of an assertion."""

    assertion: str
    passed: bool
    actual: float | None
    unit: str
    why: str = ""
    """Why there is no value to compare."""


class AssertionReader:
    """Reads assertions on the figures that there can be."""

    def __init__(self, figures: Sequence[Figure]) -> None:
        self._figures = {figure.name: figure for figure in figures}

    def read(self, text: str, place: str = "'--assert'") -> Assertion:
        """Read an assertion; UsageError, with the place and what is wrong there."""
        match = _FORM.fullmatch(text)
        if match is None:
            raise UsageError(f"{place} is '{text}', not an assertion", hint=_EXAMPLE)
        fault = _Fault(text, place)
        number = self._number(match, text, fault)
        if match["compare"] not in _COMPARE:
            at = match.start("compare") if match["compare"] else len(text.rstrip())
            raise fault.at(at, "there must be one of <, <=, >, >=, == and !=", _EXAMPLE)
        if not match["value"]:
            raise fault.at(len(text), "the value to compare with is missing", _EXAMPLE)
        if match["rest"].strip():
            raise fault.at(match.start("rest"), f"'{match['rest']}' is too much")
        return Assertion(
            **msgspec.structs.asdict(number),
            compare=match["compare"],
            limit=_limit(match["value"], number.figure, fault, match.start("value")),
        )

    def condition(self, text: str) -> Assertion:
        """Read the condition of `--until`; UsageError also for a figure that is known in the end only."""
        place = "'--until'"
        found = self.read(text, place)
        if found.figure.needs_end:
            raise _Fault(text, place).at(
                0,
                f"'{found.figure.name}' is computed when the run has ended",
                "give it to --assert",
            )
        return found

    def number(self, text: str, place: str = "'--figure'") -> FigureNumber:
        """Read the name of a number, such as `jobs.jct[load=short].p50`; UsageError likewise."""
        match = _FORM.fullmatch(text)
        if match is None or match["compare"]:
            raise UsageError(f"{place} is '{text}', not a figure", hint=_NUMBER_EXAMPLE)
        fault = _Fault(text, place)
        if rest := match["value"]:
            raise fault.at(match.start("value"), f"'{rest}' is too much")
        return self._number(match, text, fault)

    def _number(self, match: re.Match[str], text: str, fault: "_Fault") -> FigureNumber:
        figure, statistic = self.find(match["name"] + (match["statistic"] or ""), fault)
        group = _group(match["group"], figure, fault, match.start("group"))
        return FigureNumber(text=text.strip(), figure=figure, statistic=statistic, group=group)

    def is_figure(self, name: str) -> bool:
        """Return whether a name is that of a figure as a whole."""
        return name in self._figures

    def find(self, name: str, fault: "_Fault") -> tuple[Figure, str]:
        """Return the figure and the statistic that a name means."""
        figure, statistic = self._figures.get(name), ""
        if figure is None:
            before, _, statistic = name.rpartition(".")
            # Which devices there are is known only when nodes were seen.
            figure = self._figures.get(before) or figure_of_device(before)
        if figure is None:
            figure, statistic = figure_of_device(name), ""
        if figure is None:
            raise fault.at(
                0,
                f"there is no figure '{name}'",
                did_you_mean(name, self._figures) or "list them with: kwokctl measure fields",
            )
        _check_statistic(figure, statistic, fault)
        return figure, statistic


def _check_statistic(figure: Figure, statistic: str, fault: "_Fault") -> None:
    usable = STATISTICS[figure.form]
    if usable and statistic not in usable:
        problem = f"'{figure.name}' has no '{statistic}'" if statistic else "it is not one number"
        example = _EXAMPLES[figure.form]
        raise fault.at(
            len(figure.name),
            problem,
            f"choose from: {', '.join(usable)}, such as '{figure.name}.{example}'",
        )
    if statistic and not usable:
        raise fault.at(len(figure.name), f"'{figure.name}' is one number, without '.{statistic}'")


def _limit(word: str, figure: Figure, fault: "_Fault", place: int) -> float:
    match = _VALUE.fullmatch(word)
    units = _UNITS[figure.unit]
    if match is None or match[2] not in units:
        example = {"s": "5s or 250ms", "%": "99.5%", "/s": "300", "B": "512Mi"}.get(
            figure.unit, "0"
        )
        raise fault.at(place, f"'{word}' is not a value of '{figure.name}'", f"such as {example}")
    return float(Decimal(match[1]) * units[match[2]])


def _group(word: str | None, figure: Figure, fault: "_Fault", place: int) -> tuple[str, str] | None:
    if word is None:
        return None
    key, has_value, value = word[1:-1].partition("=")
    is_known = key == figure.parts if figure.parts else key in GROUPS or key.startswith("label:")
    if not has_value or not is_known:
        keys = figure.parts or f"one of {', '.join(GROUPS)} and label:NAME"
        raise fault.at(place, f"'{word}' is not a group", f"write KEY=VALUE; a key is {keys}")
    return key, value


class _Fault:
    """An assertion in which something is wrong, and where it was written."""

    def __init__(self, text: str, place: str) -> None:
        self._text = text
        self._place = place

    def at(self, column: int, problem: str, hint: str | None = None) -> UsageError:
        """Return the error for what is at a column, counted from 0."""
        return UsageError(
            f"{self._place} is '{self._text}', column {column + 1}: {problem}", hint=hint
        )


def judge(assertions: Sequence[Assertion], view: RunView) -> list[Judgement]:
    """Try all assertions."""
    return [_judged(assertion, view) for assertion in assertions]


def _judged(assertion: Assertion, view: RunView) -> Judgement:
    unit, actual = assertion.figure.unit, assertion.of(view)
    if isinstance(actual, str):
        return Judgement(assertion=assertion.text, passed=False, actual=None, unit=unit, why=actual)
    passed = assertion.holds(actual)
    return Judgement(assertion=assertion.text, passed=passed, actual=actual, unit=unit)


def part_of(value: Value, name: str, key: str) -> Value:
    """Return a part of a value, or why there is none."""
    found: Value | None = None
    match value:
        case Missing():
            return value
        case SingleNumber(_, detail) if name in detail:
            found = SingleNumber(detail[name])
        case Levels() | Bounds():
            found = value.parts.get(name)
        case _:
            pass
    return found or Missing(f"there is nothing with {key}={name}")


def _in_group(view: RunView, group: tuple[str, str] | None) -> RunView | str:
    """Return the part of a run that an assertion is about, or why there is none."""
    if group is None:
        return view
    key, name = group
    found = groups(view, key)
    return found.get(name) or f"there is no pod with {key}={name}"


def number_of(value: Value, statistic: str) -> float | str:
    """Return a number of a value, or why there is none."""
    match value:
        case Missing(why):
            return why
        case SingleNumber(number):
            return number
        case Durations() | Series() | Levels():
            found: float | None = getattr(value, statistic)
            return "it went on for less than 10 s" if found is None else float(found)
        case Bounds():
            bound: float | None = getattr(value, statistic)
            return f"it is above {value.largest:g} s" if bound is None else float(bound)
