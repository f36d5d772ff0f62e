"""Joins the figures of several runs: each median, with all values beside it."""

import statistics
from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks import results
from benchmarks.results import Figure, Results
from kwokctl.replacing import replace


def keep_medians(runs: Sequence[Path], into: Path) -> None:
    """Add the medians of the figures in some files to the file `into`."""
    read = [results.read(run) for run in runs]
    found = results.continued(into, read[0].machine, read[0].versions)
    results.write(into, found.with_figures(*medians(read)))


def medians(runs: Sequence[Results]) -> Iterable[Figure]:
    """Yield for each figure that of the run in the middle; its note has the values of all runs."""
    names = dict.fromkeys((figure.row, figure.path) for run in runs for figure in run.figures)
    for row, path in names:
        found = [figure for run in runs if (figure := run.find(row, path)) is not None]
        yield _median(sorted(found, key=lambda figure: figure.value))


def _median(figures: Sequence[Figure]) -> Figure:
    middle = statistics.median_low([figure.value for figure in figures])
    chosen = next(figure for figure in figures if figure.value == middle)
    if len(figures) == 1:
        return chosen
    values = ", ".join(f"{figure.value:g}" for figure in figures)
    notes = [f"median of {len(figures)} clusters: {values}", *filter(None, [chosen.note])]
    return replace(chosen, note="; ".join(notes))
