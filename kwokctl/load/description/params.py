"""What is known of an arrival before it is sent: its number, its name and its parameters."""

from collections.abc import Mapping, Sequence

from kwokctl.draws.streams import DrawStream
from kwokctl.errors import ConfigError
from kwokctl.json_value import Json
from kwokctl.load.description.schema import DrawnParam, Param
from kwokctl.load.description.traces import TraceRow


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
