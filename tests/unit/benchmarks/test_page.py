from xml.etree import ElementTree as ET

from benchmarks.goals import GROWTH, ROWS, growth_row
from benchmarks.page import drawing, page
from benchmarks.results import Figure, Machine, Results

EMPTY = Results(
    machine=Machine(processor="a processor", cores=2, memory_gib=24, system="Linux 6"),
    versions={"kwokctl": "1", "etcd": "3.6"},
)


def figure(row: str, path: str = "etcd", **changes: object) -> Figure:
    values = {"count": 10_000, "value": 5.25, "date": "2026-11-21", **changes}
    return Figure(row=row, path=path, **values)  # type: ignore[arg-type]  # a test's own table of values


def line(results: Results, beginning: str) -> str:
    return next(each for each in page(results).splitlines() if each.startswith(beginning))


def test_a_row_shows_goal_original_and_both_paths() -> None:
    results = EMPTY.with_figures(figure("nodes"), figure("nodes", "api", value=61.34))

    assert line(results, "| `scale node --replicas 10,000`").endswith(
        "| 6 s | 144 s | 5.25 s | 61.3 s |"
    )


def test_what_was_not_measured_is_a_dash_beside_its_goal() -> None:
    text = page(EMPTY)

    assert "Not measured yet" in text
    assert line(EMPTY, "| 100,000 pods spread over 10,000 nodes").endswith("| 50 s | - | - | - |")
    assert all(row.unit in text for row in ROWS.values())
    assert [each for each in text.splitlines() if each.startswith("## ")] == [
        "## Goals and results"
    ]


def test_a_figure_for_fewer_objects_than_the_goal_names_their_number() -> None:
    results = EMPTY.with_figures(
        figure("spread", count=100_000, nodes=10_000, value=42.0),
        figure("spread", "api", count=10_000, nodes=10_000, value=48.0),
    )

    row = line(results, "| 100,000 pods spread over 10,000 nodes")
    assert row.endswith("| 42 s | 48 s (10,000 of them) |")


def test_the_programs_shares_have_columns_of_their_own() -> None:
    results = EMPTY.with_figures(
        figure("nodes", programs={"etcd": 0.123, "kwokctl": 1.5}, ended=0),
        figure("idle", programs={"etcd": 9.0}),
    )

    text = page(results)
    assert "| work | path | etcd | kwokctl |" in text
    assert "Ready and free of the not-ready taint | etcd | 0.123 | 1.5 |" in text
    assert "CPU of the whole control plane, of one core | etcd | 9 |" in text


def test_growth_is_a_line_s_slope_a_table_and_a_drawing() -> None:
    points = [figure(growth_row(n), count=n, value=n / 2_000) for n in GROWTH]
    results = EMPTY.with_figures(*points)

    text = page(results)
    assert "* etcd: 0.50 s for a thousand nodes more; a straight line explains 100.0%" in text
    assert "| 20,000 | 10 s |" in text
    assert "* etcd: 20,000 nodes take 2 times as long as 10,000; the goal is 2.2." in text
    assert drawing(results).count("<circle") == len(GROWTH)


def test_without_growth_the_page_does_not_show_its_drawing() -> None:
    assert "performance.svg" not in page(EMPTY)
    assert ET.fromstring(drawing(EMPTY)) is not None


def test_a_soak_shows_the_first_each_fifth_and_the_last_minute() -> None:
    results = EMPTY.with_figures(soak={"kwok-controller": tuple(100.0 + m for m in range(1, 13))})

    text = page(results)
    assert "| minute | 1 | 5 | 10 | 12 |" in text
    assert "| kwok-controller | 101 | 105 | 110 | 112 |" in text
