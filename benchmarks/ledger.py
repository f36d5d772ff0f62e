"""Prints figures as they come, beside their goals, and adds them to the file of results."""

import datetime as dt
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from benchmarks import results
from benchmarks.cluster import BenchCluster, machine, versions
from benchmarks.goals import ROWS, Row
from benchmarks.results import Figure, Machine
from kwokctl import __version__
from kwokctl.kube.client import Client


@dataclass(frozen=True, slots=True)
class Ledger:
    """The figures of one cluster."""

    machine: Machine
    versions: dict[str, str]
    data_path: str
    into: Path | None

    @classmethod
    async def open(cls, cluster: BenchCluster, client: Client, into: Path | None) -> Self:
        """Begin the figures of a cluster; they go to the file `into` if there is one."""
        return cls(machine(), await versions(cluster, client), cluster.data_path, into)

    @classmethod
    def without_cluster(cls, into: Path | None) -> Self:
        """Begin figures that are measured in memory; the file keeps the versions of a cluster's programs."""
        found = results.read(into).versions if into is not None and into.is_file() else {}
        own = {"kwokctl": __version__, "Python": platform.python_version()}
        return cls(machine(), {**found, **own}, "etcd", into)

    def add(  # noqa: PLR0913 - they are what a figure consists of
        self,
        row: str,
        count: int,
        value: float,
        *,
        nodes: int = 0,
        ended: int | None = None,
        programs: Mapping[str, float] | None = None,
        note: str = "",
    ) -> None:
        """Print a figure and keep it."""
        figure = Figure(
            row=row,
            path=self.data_path,
            count=count,
            nodes=nodes,
            value=rounded(value),
            date=dt.datetime.now(tz=dt.UTC).date().isoformat(),
            ended=ended,
            programs={name: rounded(share) for name, share in (programs or {}).items()},
            note=note,
        )
        _print(figure)
        self.keep(figure)

    def keep(self, *figures: Figure, soak: dict[str, tuple[float, ...]] | None = None) -> None:
        """Write figures to the file."""
        if self.into is None:
            return
        found = results.continued(self.into, self.machine, self.versions)
        results.write(self.into, found.with_figures(*figures, soak=soak))


def rounded(value: float) -> float:
    """Return a figure with the three digits that mean something."""
    return float(f"{value:.3g}")


def _print(figure: Figure) -> None:
    row = ROWS.get(figure.row, Row("a fleet of {count} nodes", "s", figure.count, each="node"))
    what = row.what.format(count=f"{figure.count:,}", nodes=f"{figure.nodes:,}")
    parts = [f"{figure.path}: {what}: {figure.value} {row.unit}".rstrip()]
    if row.goal is not None and figure.count == row.count:
        parts.append(f"goal: at most {row.goal:g} {row.unit}")
    if figure.ended is not None:
        parts.append(f"watchers ended: {figure.ended}")
    if figure.note:
        parts.append(figure.note)
    print("; ".join(parts), flush=True)
    if figure.programs:
        unit = f"ms of CPU a {row.each}" if row.each else row.unit
        shares = ", ".join(f"{name} {share}" for name, share in figure.programs.items())
        print(f"    {unit}: {shares}", flush=True)
