"""What a page shows is what its document says."""

from collections.abc import Sequence
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from kwokctl.measure.pages.page_data import (
    BarsItem,
    FleetItem,
    IntervalsItem,
    LinesItem,
    PageBand,
    PageData,
    PageSection,
    TableItem,
    TextItem,
    WaterfallItem,
)
from kwokctl.replacing import replace
from tests.support import sample_pages
from tests.support.browsers import Viewer

RUN = sample_pages.run_page()


def items_of(data: PageData, kind: type) -> list[Any]:
    return [item for section in data.sections for item in section.items if isinstance(item, kind)]


def open_tables(page: Page) -> None:
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")


def rows_behind(page: Page, item: str) -> list[list[str]]:
    """Return the texts of the table behind a chart."""
    rows = page.locator(f"#item-{item} details tbody tr")
    expect(rows.first).to_be_attached()
    read = "rows => rows.map(row => [...row.children].map(cell => cell.textContent))"
    texts: list[list[str]] = rows.evaluate_all(read)
    return texts


def number(text: str) -> float | None:
    return None if text == "–" else float(text.replace(",", "").replace("−", "-"))


def test_verdict_figures_and_conditions_come_first(viewer: Viewer) -> None:
    page = viewer.open(RUN)

    assert page.title() == RUN.title
    order = page.locator("main > *").evaluate_all("all => all.map(each => each.id)")
    assert order == ["verdict", "headline", "conditions", "faults", "sections"]
    expect(page.locator(".verdict-text")).to_have_text(RUN.verdict.text)
    assert page.locator("#verdict li").all_text_contents() == [*RUN.verdict.notes]
    shown = page.locator(".tile-figure").all_text_contents()
    assert shown == [f"{each.value} {each.unit}" for each in RUN.headline]
    names = page.locator("#conditions dt").all_text_contents()
    values = page.locator("#conditions dd").all_text_contents()
    assert list(zip(names, values, strict=True)) == [*RUN.conditions]


def test_the_tables_behind_charts_of_time_are_those_of_their_bins(viewer: Viewer) -> None:
    page = viewer.open(RUN)
    open_tables(page)

    for item in items_of(RUN, LinesItem):
        shown = [[number(text) for text in row] for row in rows_behind(page, item.id)]
        assert shown == [
            [
                item.start + i * item.step,
                item.start + (i + 1) * item.step,
                *(series.values[i] for series in item.series),
            ]
            for i in range(item.count)
        ]


def test_the_tables_behind_distributions_are_those_of_their_classes(viewer: Viewer) -> None:
    page = viewer.open(RUN)
    open_tables(page)

    for item in items_of(RUN, BarsItem):
        shown = [[number(text) for text in row] for row in rows_behind(page, item.id)]
        assert shown == [
            [*item.edges[i : i + 2], *(series.values[i] for series in item.series)]
            for i in range(len(item.edges) - 1)
        ]
        marks = page.locator(f"#item-{item.id} .pairs dd").all_text_contents()
        assert marks == [f"{mark.at:g} {item.unit}" for mark in item.marks]


def test_the_table_behind_jobs_has_each_of_2000(viewer: Viewer) -> None:
    data = sample_pages.run_page(jobs=2000)
    page = viewer.open(data)
    open_tables(page)

    [item] = items_of(data, WaterfallItem)
    rows = rows_behind(page, item.id)
    assert [row[0] for row in rows] == [row.name for row in item.rows]
    for shown, row in zip(rows, item.rows, strict=True):
        assert shown[1:] == [_spans(row.spans, phase) for phase in range(len(item.phases))]
    drawn = page.locator(f"#item-{item.id} .plot .content rect").count()
    assert 400 < drawn <= 401 * len(item.phases)


def _spans(spans: Sequence[tuple[int, float, float | None]], wanted: int) -> str:
    texts = [
        f"{start:g} s, not ended" if end is None else f"{start:.12g} – {end:.12g}"
        for phase, start, end in spans
        if phase == wanted
    ]
    return "; ".join(texts) or "–"


def test_the_fleet_is_counted_by_rack_at_each_frame(viewer: Viewer) -> None:
    page = viewer.open(RUN)
    open_tables(page)
    [item] = items_of(RUN, FleetItem)
    slider = page.locator(f"#item-{item.id} input[type=range]")

    for frame in (item.count - 1, 40, 41, 12, 0):
        slider.evaluate(
            "(slider, frame) => { slider.value = frame; slider.dispatchEvent(new Event('input')); }",
            frame,
        )
        shown = [[row[0], *map(number, row[1:])] for row in rows_behind(page, item.id)]
        assert shown == _counted(item, frame)
        counts = page.locator(f"#item-{item.id} .legend .count").all_text_contents()
        assert [number(text) for text in counts] == [
            sum(row[2 + i] for row in _counted(item, frame)) for i in range(len(item.states))
        ]


def _counted(item: FleetItem, frame: int) -> list[list[Any]]:
    codes: dict[int, str] = {}
    for each in item.frames[: frame + 1]:
        codes.update(each.changes)
    rows: list[list[Any]] = []
    first = 0
    for group in item.groups:
        own = [codes[i] for i in range(first, first + len(group.nodes))]
        first += len(group.nodes)
        rows.append([group.name, len(own), *(own.count(state.code) for state in item.states)])
    return rows


def test_tables_are_shown_whole_and_can_be_sorted(viewer: Viewer) -> None:
    page = viewer.open(RUN)
    [item] = items_of(RUN, TableItem)
    card = page.locator(f"#item-{item.id}")
    texts = [[cell if isinstance(cell, str) else cell.text for cell in row] for row in item.rows]

    cells = "rows => rows.map(row => [...row.children].map(cell => cell.dataset.text))"
    rows = card.locator("tbody tr")
    assert rows.evaluate_all(cells) == texts
    card.get_by_role("button", name="Waited, p99 (s)").click()
    assert rows.evaluate_all(cells) == sorted(texts, key=lambda row: float(row[4]))
    card.get_by_role("button", name="Waited, p99 (s)").click()
    assert rows.evaluate_all(cells) == sorted(texts, key=lambda row: -float(row[4]))
    assert card.locator("th[aria-sort=descending]").count() == 1


@pytest.fixture
def long_table() -> PageData:
    """Return a page with a table of 150 rows."""
    [table] = items_of(RUN, TableItem)
    rows = [[str(i), *["x"] * 5] for i in range(150)]
    long = TableItem(id="long", title="Long", columns=table.columns, rows=rows)
    return replace(RUN, sections=[PageSection(id="s", title="S", items=[long])])


def test_a_long_table_shows_all_its_rows_when_asked(viewer: Viewer, long_table: PageData) -> None:
    page = viewer.open(long_table)
    names = page.locator("#item-long tbody th")
    assert names.count() == 20

    page.get_by_role("button", name="Show all 150 rows").click()
    assert names.all_text_contents() == [str(i) for i in range(150)]


def test_a_long_table_is_whole_on_paper(viewer: Viewer, long_table: PageData) -> None:
    page = viewer.open(long_table)

    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("#item-long tbody th").count() == 150
    expect(page.locator("#item-long .more")).to_be_hidden()


def test_differences_are_shown_with_interval_and_verdict(viewer: Viewer) -> None:
    data = sample_pages.comparison_page()
    page = viewer.open(data)
    [item] = items_of(data, IntervalsItem)

    rows = page.locator("#item-intervals [role=rowgroup]:last-child [role=row]")
    for i, row in enumerate(item.rows):
        text = rows.nth(i).inner_text().replace("−", "-")
        for wanted in (row.name, row.a, row.b, row.verdict):
            assert wanted in text
        if row.low is None:
            assert "no interval" in text
        else:
            assert f"{row.low:+g} … {row.high:+g} %" in text
            assert f"{row.middle:+g} %" in text
    assert rows.locator(".interval").count() == len(item.rows) - 1


def test_commands_are_copied_as_they_are(viewer: Viewer) -> None:
    page = viewer.open(RUN)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    [item] = items_of(RUN, TextItem)

    page.locator("#item-commands button").nth(1).click()
    expect(page.locator("#announcement")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == item.lines[1]


@pytest.mark.parametrize("size", [10, 2_000_000])
def test_a_file_inside_the_page_can_be_saved(viewer: Viewer, size: int) -> None:
    content = bytes(i * i % 251 for i in range(size))
    data = sample_pages.with_download(RUN, "pods.csv", content)
    page = viewer.open(data)

    with page.expect_download() as saved:
        page.locator("#downloads button").click()
    assert saved.value.suggested_filename == "pods.csv"
    assert saved.value.path().read_bytes() == content


def test_of_many_faults_charts_show_when_there_are_any_and_a_table_each(viewer: Viewer) -> None:
    faults = [PageBand(name=f"fault-{i}", start=i * 2.0, end=i * 2.0 + 5) for i in range(100)]
    later = [PageBand(name="slow", start=600.0, end=None, level="warning")]
    page = viewer.open(replace(RUN, bands=[*faults, *later]))
    open_tables(page)

    page.locator("#item-queue").scroll_into_view_if_needed()
    names = page.locator("#item-queue .band-name").all_text_contents()
    assert sorted(names) == ["100 faults", "slow"]
    shown = page.locator("#faults tbody tr").evaluate_all(
        "rows => rows.map(row => [...row.children].map(cell => cell.textContent))"
    )
    assert shown[:2] == [["fault-0", "0", "5"], ["fault-1", "2", "7"]]
    assert len(shown) == 101
    assert shown[-1] == ["slow", "600", "not ended"]


def test_hostile_names_are_text_and_nothing_else(viewer: Viewer) -> None:
    page = viewer.open(sample_pages.hostile_page())
    open_tables(page)
    shown = sample_pages.HOSTILE.replace("\u202e", "⟨U+202E⟩")

    assert page.title() == shown
    expect(page.locator("#item-hostile-table h3")).to_have_text(shown)
    expect(page.locator("#item-hostile-text code")).to_have_text(shown)
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 2
    page.locator("#item-hostile-nodes .plot").focus()
    page.keyboard.press("Home")
    expect(page.locator(".tooltip-title")).to_have_text(shown)
    assert "\u202e" not in page.content()


def test_without_scripts_the_page_says_so(viewer: Viewer) -> None:
    page = viewer.open(RUN, has_scripts=False)

    expect(page.locator(".no-script")).to_be_visible()
