"""The parameters of arrivals: constants, and what is drawn by the seed, the load and the arrival's number."""

from collections.abc import Mapping

from kwokctl.draws.drawn import Drawn
from kwokctl.draws.streams import Stream
from kwokctl.json_value import Json
from kwokctl.load.schema import Param


class Params:
    """The parameters of one load."""

    def __init__(self, declared: Mapping[str, Param], stream: Stream) -> None:
        """Draw from the stream of the load: each parameter has one of its own below it."""
        self._constant = {k: v for k, v in declared.items() if not isinstance(v, Drawn)}
        self._drawn = [
            (name, each, stream.below("params").below(name))
            for name, each in declared.items()
            if isinstance(each, Drawn)
        ]

    def at(self, index: int) -> dict[str, Json]:
        """Return the parameters of an arrival."""
        drawn = {name: each.at(stream, index) for name, each, stream in self._drawn}
        return {**self._constant, **drawn}
