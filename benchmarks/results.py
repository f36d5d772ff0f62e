"""Keeps what was measured: figures of one machine and of one set of versions, as JSON.

A figure replaces the one of the same row and path. Figures of another machine or of other versions
are dropped, since a page that mixes them would compare what cannot be compared.
"""

from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from kwokctl.replacing import replace

FILE = Path(__file__).parents[1] / "docs" / "explanation" / "performance.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """Where it was measured."""

    processor: str
    cores: int
    memory_gib: int
    system: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One thing that was measured."""

    row: str
    """A name in `goals.ROWS`, or of `goals.growth_row`."""
    path: str
    """The data path: `etcd` or `api`."""
    count: int
    """Of how many objects."""
    nodes: int = 0
    """On how many nodes they are, where that is another number."""
    value: float
    """In the unit of the row; seconds for growth."""
    date: str
    ended: int | None = None
    """How many watchers the API server has ended meanwhile."""
    programs: dict[str, float] = field(default_factory=dict)
    """Each program's share: ms of CPU an object; for a row in % or MB its own % or MB."""
    note: str = ""
    """What must be known to read the figure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """All figures, with what they have in common."""

    machine: Machine
    versions: dict[str, str]
    """By program."""
    figures: tuple[Figure, ...] = ()
    soak: dict[str, tuple[float, ...]] = field(default_factory=dict)
    """Memory of each program in MB, minute by minute, from the first on."""

    def find(self, row: str, path: str) -> Figure | None:
        """Return the figure of a row on a path."""
        return next((f for f in self.figures if (f.row, f.path) == (row, path)), None)

    def with_figures(
        self, *new: Figure, soak: dict[str, tuple[float, ...]] | None = None
    ) -> "Results":
        """Return the results with these figures, and this soak, in the place of older ones."""
        replaced = {(figure.row, figure.path) for figure in new}
        kept = [f for f in self.figures if (f.row, f.path) not in replaced]
        return replace(self, figures=(*kept, *new), soak=soak or self.soak)


def read(path: Path) -> Results:
    """Read a file of results."""
    return msgspec.json.decode(path.read_bytes(), type=Results)


def write(path: Path, results: Results) -> None:
    """Write a file of results, in an order that does not depend on that of measuring."""
    figures = sorted(results.figures, key=lambda f: (f.row, f.path))
    data = msgspec.json.encode(replace(results, figures=tuple(figures)))
    path.write_bytes(msgspec.json.format(data, indent=1) + b"\n")


def continued(path: Path, machine: Machine, versions: dict[str, str]) -> Results:
    """Return the results to add to: those of the file if they are of the same machine and versions."""
    if path.is_file():
        former = read(path)
        if (former.machine, former.versions) == (machine, versions):
            return former
    return Results(machine=machine, versions=versions)
