"""The plan of a load: the due time of each arrival, and its parameters."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, repeat

from kwokctl.draws.streams import DrawStream
from kwokctl.errors import ConfigError
from kwokctl.expr.gotemplate.go.go_types import Int64, Real
from kwokctl.json_value import Json
from kwokctl.load.description.rhythms import Moments, due_times
from kwokctl.load.description.schema import DrawnParam, Param
from kwokctl.load.description.traces import TraceRow
from kwokctl.load.load_documents import Load


class Params:
    """The parameters of one load: constants, what is drawn for each arrival, and columns of its trace."""

    def __init__(
        self, declared: Mapping[str, Param], stream: DrawStream, trace: Sequence[TraceRow]
    ) -> None:
        """Draw from the stream of the load: each parameter has one of its own below it."""
        self._constant = {k: v for k, v in declared.items() if not isinstance(v, DrawnParam)}
        self._drawn = [
            (name, each, stream.below("params").below(name))
            for name, each in declared.items()
            if isinstance(each, DrawnParam) and each.column is None
        ]
        self._columns = {
            name: each.column
            for name, each in declared.items()
            if isinstance(each, DrawnParam) and each.column is not None
        }
        self._trace = trace

    def at(self, index: int) -> dict[str, Json]:
        """Return the parameters of an arrival; ConfigError for a column that its line does not have."""
        row = self._trace[index].columns if self._trace else {}
        drawn = {name: each.at(stream, index) for name, each, stream in self._drawn}
        return {**row, **self._constant, **drawn, **self._taken(row, index)}

    def _taken(self, row: Mapping[str, Json], index: int) -> dict[str, Json]:
        for column in self._columns.values():
            if column not in row:
                raise ConfigError(f"arrival {index} of the trace has no column '{column}'")
        return {name: row[column] for name, column in self._columns.items()}


_COUNTED = 10_000
"""Arrivals that are counted beforehand, for the progress: more would delay the first."""


class ArrivalPlan:
    """The arrivals of one load; the same for the same seed, whatever other loads there are."""

    def __init__(self, load: Load, run: str, stream: DrawStream) -> None:
        """Draw from the stream of the load."""
        self._load, self._run, self._stream = load, run, stream
        self._params = Params(load.spec.params, stream, load.trace)

    @property
    def is_closed(self) -> bool:
        """Whether one arrival is due when another ends."""
        return self._load.spec.arrivals.concurrency is not None

    def times(self) -> Iterator[float]:
        """Yield when each arrival is due; none where arrivals take turns."""
        spec = self._load.spec
        rhythm = spec.arrivals.rhythm
        if self._load.trace:
            rhythm = Moments(tuple(row.seconds for row in self._load.trace))
        if rhythm is None:
            return iter(())
        stream = self._stream.below("arrivals")
        return due_times(rhythm, stream, number=spec.count, lasts=spec.lasts)

    @property
    def shown(self) -> Iterator[float]:
        """The due time of each arrival; where arrivals take turns, only their number is known."""
        if not self.is_closed:
            return self.times()
        return repeat(0.0, self._load.spec.count or _COUNTED)

    @property
    def total(self) -> int | None:
        """The number of arrivals; None if it is not known, or very large."""
        if self.is_closed:
            return self._load.spec.count
        number = sum(1 for _ in islice(self.times(), _COUNTED))
        return self._load.spec.count if number == _COUNTED else number

    def data(self, index: int) -> dict[str, Json]:
        """Return what templates see of an arrival; ConfigError, with the place, for one that lacks a column."""
        try:
            params = self._params.at(index)
        except ConfigError as e:
            raise self._load.document.fault("spec.params", f"cannot be drawn: {e}") from e
        return {
            "index": Int64(index),
            "name": f"{self._load.name}-{index}",
            "load": self._load.name,
            "run": self._run,
            "params": _typed(params),
        }


def _typed(value: Json) -> Json:
    """Return a value with numbers that templates can compare and count with.

    Numbers of objects are texts to a template, as to kwok's.
    """
    if isinstance(value, dict):
        return {name: _typed(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_typed(each) for each in value]
    if isinstance(value, int) and not isinstance(value, bool):
        return Int64(value)
    return Real(value) if isinstance(value, float) else value
