from pathlib import Path

from benchmarks.results import Figure, Machine, Results, continued, read, write
from kwokctl.replacing import replace

MACHINE = Machine(processor="a processor", cores=2, memory_gib=24, system="Linux 6")
VERSIONS = {"kwokctl": "1"}


def figure(value: float, *, row: str = "nodes", path: str = "etcd") -> Figure:
    return Figure(row=row, path=path, count=10_000, value=value, date="2026-11-21")


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    results = Results(machine=MACHINE, versions=VERSIONS, soak={"etcd": (1.0, 2.0)})
    results = results.with_figures(replace(figure(5.5), programs={"etcd": 0.2}, ended=3))

    write(tmp_path / "results.json", results)

    assert read(tmp_path / "results.json") == results


def test_a_figure_replaces_that_of_its_row_and_path_only() -> None:
    results = Results(machine=MACHINE, versions=VERSIONS)
    results = results.with_figures(figure(1), figure(2, path="api"), figure(3, row="spread"))

    changed = results.with_figures(figure(9))

    assert [changed.find("nodes", path) for path in ("etcd", "api")] == [
        figure(9),
        figure(2, path="api"),
    ]
    assert changed.find("spread", "etcd") == figure(3, row="spread")
    assert len(changed.figures) == 3


def test_figures_keep_the_soak_and_a_soak_keeps_the_figures() -> None:
    results = Results(machine=MACHINE, versions=VERSIONS, soak={"etcd": (1.0,)})

    changed = results.with_figures(figure(1)).with_figures(soak={"etcd": (2.0,)})

    assert changed.soak == {"etcd": (2.0,)}
    assert changed.find("nodes", "etcd") == figure(1)
    assert changed.with_figures(figure(2)).soak == {"etcd": (2.0,)}


def test_results_go_on_from_those_of_the_same_machine_and_versions(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    write(path, Results(machine=MACHINE, versions=VERSIONS, figures=(figure(1),)))

    assert continued(path, MACHINE, VERSIONS).figures == (figure(1),)
    assert continued(path, replace(MACHINE, cores=4), VERSIONS).figures == ()
    assert continued(path, MACHINE, {"kwokctl": "2"}).figures == ()
    assert continued(tmp_path / "none.json", MACHINE, VERSIONS).figures == ()


def test_the_order_of_measuring_does_not_show_in_the_file(tmp_path: Path) -> None:
    empty = Results(machine=MACHINE, versions=VERSIONS)
    one, other = figure(1), figure(2, path="api")

    write(tmp_path / "a.json", empty.with_figures(one).with_figures(other))
    write(tmp_path / "b.json", empty.with_figures(other).with_figures(one))

    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
