from pathlib import Path
from typing import Any

from benchmarks.medians import keep_medians, medians
from benchmarks.results import Figure, Machine, Results, read, write
from kwokctl.replacing import replace

MACHINE = Machine(processor="a processor", cores=2, memory_gib=24, system="Linux 6")


def run(value: float, **more: Any) -> Results:
    figure = Figure(row="nodes", path="etcd", count=10_000, value=value, date="2026-11-21")
    return Results(machine=MACHINE, versions={}, figures=(replace(figure, **more),))


def test_the_run_in_the_middle_counts_with_all_that_belongs_to_it() -> None:
    [figure] = medians([run(7, ended=1), run(5, ended=2), run(6.5, ended=3, note="a renewal")])

    assert (figure.value, figure.ended) == (6.5, 3)
    assert figure.note == "median of 3 clusters: 5, 6.5, 7; a renewal"


def test_a_single_run_is_kept_as_it_is() -> None:
    assert tuple(medians([run(7, note="as it was")])) == run(7, note="as it was").figures


def test_medians_replace_the_figures_of_their_row_and_leave_the_others(tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.json" for number in range(3)]
    for number, file in enumerate(files):
        write(file, run(number))
    write(tmp_path / "all.json", run(9).with_figures(*run(4, row="spread").figures))

    keep_medians(files, tmp_path / "all.json")

    kept = read(tmp_path / "all.json")
    assert [(each.row, each.value) for each in kept.figures] == [("nodes", 1), ("spread", 4)]
