"""What the pointer does: exact figures under it, and zoom by dragging."""

from playwright.sync_api import Page, expect

from tests.support import sample_pages
from tests.support.browsers import Viewer

RUN = sample_pages.run_page()


def _box(page: Page, item: str) -> tuple[float, float, float, float]:
    plot = page.locator(f"#item-{item} .plot")
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    assert box is not None
    return box["x"], box["y"], box["width"], box["height"]


def _time(page: Page) -> str:
    return page.locator("#bar-range").inner_text()


def test_the_tooltip_has_the_figures_of_the_bin_under_the_pointer(viewer: Viewer) -> None:
    page = viewer.open(RUN)
    x, y, width, height = _box(page, "rates-of-pods")
    rates = next(i for s in RUN.sections for i in s.items if i.id == "rates-of-pods")
    at = 100  # of 144 bins; the plot lies between the numbers on its left and a margin of 16
    left = 56 + (at + 0.5) * (width - 56 - 16) / 144

    page.mouse.move(x + left, y + height / 2)
    expect(page.locator(".tooltip-title")).to_have_text("500 – 505 s")
    shown = page.locator(".tooltip-value").all_text_contents()
    assert shown == [f"{series.values[at]:g} pods/s" for series in rates.series]  # type: ignore[union-attr]  # that item has lines
    # The same time is marked in the other charts.
    assert page.locator(".cursor").count() >= 4
    page.mouse.move(2, 2)
    expect(page.locator("#tooltip")).to_be_hidden()
    assert page.locator(".cursor").count() == 0


def test_dragging_zooms_all_charts_and_a_double_click_shows_the_whole_time(viewer: Viewer) -> None:
    page = viewer.open(RUN)
    x, y, width, height = _box(page, "queue")

    page.mouse.move(x + width * 0.3, y + height / 2)
    page.mouse.down()
    page.mouse.move(x + width * 0.5, y + height / 2, steps=4)
    page.mouse.up()
    zoomed = _time(page)
    assert zoomed.startswith("3:")
    page.wait_for_function(
        "() => !document.querySelector('#item-rates-of-pods .axis').textContent.includes('0:00')"
    )
    page.mouse.dblclick(x + width * 0.5, y + height / 2)
    assert _time(page) == "0:00 – 12:00"
    page.get_by_role("button", name="Zoom in").click()
    assert _time(page) == "3:00 – 9:00"
    page.get_by_role("button", name="Whole time").click()
    assert _time(page) == "0:00 – 12:00"


def test_a_click_zooms_nothing(viewer: Viewer) -> None:
    page = viewer.open(RUN)
    x, y, width, height = _box(page, "queue")

    page.mouse.click(x + width / 2, y + height / 2)
    assert _time(page) == "0:00 – 12:00"


def test_the_tooltip_of_a_job_has_its_phases(viewer: Viewer) -> None:
    page = viewer.open(sample_pages.run_page(jobs=5))
    x, y, width, height = _box(page, "jobs-over-time")

    page.mouse.move(x + width / 2, y + height - 30)
    expect(page.locator(".tooltip-title")).to_have_text("team-0/pretrain-00004")
    assert page.locator(".tooltip-name").all_text_contents()[:3] == [
        "Queued",
        "Starting",
        "Running",
    ]


def test_the_tooltip_of_a_cell_names_the_node(viewer: Viewer) -> None:
    page = viewer.open(RUN)
    x, y, _, _ = _box(page, "fleet-map")

    page.mouse.move(x + 5, y + 20)
    expect(page.locator(".tooltip-title")).to_have_text("gpu-00-00")
    expect(page.locator("#tooltip")).to_contain_text("rack-00")


def test_the_tooltip_stays_inside_a_narrow_window(viewer: Viewer) -> None:
    page = viewer.open(RUN, width=400)
    x, y, width, height = _box(page, "rates-of-pods")

    page.mouse.move(x + width - 20, y + height / 2)
    box = page.locator("#tooltip").bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 400


def test_what_a_finger_has_touched_stays_until_something_else_is_touched(viewer: Viewer) -> None:
    page = viewer.open(RUN, width=400, has_touch=True)
    x, y, width, height = _box(page, "rates-of-pods")

    page.touchscreen.tap(x + width / 2, y + height / 2)
    expect(page.locator(".tooltip-title")).to_be_visible()
    assert page.locator("#tooltip .tooltip-row").count() >= 3
    page.locator("#item-rates-of-pods h3").tap()
    expect(page.locator("#tooltip")).to_be_hidden()
