"""A live page: what changes is changed in place, and what stays keeps its elements."""

from typing import Any

import msgspec
import pytest
from playwright.sync_api import Page, expect

from kwokctl.measure.pages.page_data import PageItem, PageVerdict
from tests.support import sample_pages
from tests.support.browsers import Viewer

LIVE = sample_pages.live_page(racks=40)


@pytest.fixture
def page(viewer: Viewer) -> Page:
    return viewer.open(LIVE)


def builtins(item: PageItem) -> dict[str, Any]:
    """Return an item as it is sent."""
    made: dict[str, Any] = msgspec.to_builtins(item)
    return made


def item_of(name: str) -> dict[str, Any]:
    return builtins(next(i for s in LIVE.sections for i in s.items if i.id == name))


def remember(page: Page) -> None:
    page.evaluate(
        "window.before = [...document.querySelectorAll('article, canvas, .plot, .chart, .tile, input')]"
    )


def kept(page: Page) -> bool:
    same: bool = page.evaluate("window.before.every(each => each.isConnected)")
    return same


def test_new_values_of_a_chart_keep_its_elements_and_the_figure_that_is_read(page: Page) -> None:
    remember(page)
    page.locator("#item-queue .plot").focus()
    page.keyboard.press("End")
    item = item_of("queue")
    item["series"][0]["values"][-1] = 7777

    assert page.evaluate("item => updateItem(item)", item)
    plot = page.locator("#item-queue .plot")
    expect(plot).to_have_attribute("aria-valuetext", "715 – 720 s; Waiting: 7,777 pods")
    assert kept(page)
    page.wait_for_function(
        "() => document.querySelector('#item-queue .axis').textContent.includes('8,000')"
    )


def test_time_goes_on_in_all_charts_unless_a_part_of_it_is_shown(page: Page) -> None:
    item = item_of("queue")
    item["series"][0]["values"] += [1.0] * 144
    page.evaluate("item => updateItem(item)", {**item, "count": 288})
    expect(page.locator("#bar-range")).to_have_text("0:00 – 24:00")

    page.get_by_role("button", name="Zoom in").click()
    expect(page.locator("#bar-range")).to_have_text("6:00 – 18:00")
    item["series"][0]["values"] += [1.0] * 144
    page.evaluate("item => updateItem(item)", {**item, "count": 432})
    expect(page.locator("#bar-range")).to_have_text("6:00 – 18:00")


def test_a_time_that_a_live_page_has_forgotten_is_shown_no_longer(page: Page) -> None:
    page.get_by_role("button", name="Zoom in").click()
    expect(page.locator("#bar-range")).to_have_text("3:00 – 9:00")

    for name in ("fleet-map", "queue", "rates-of-pods"):
        page.evaluate("item => updateItem(item)", {"id": name, "start": 1000.0})
    expect(page.locator("#bar-range")).to_have_text("16:40 – 28:40")


def test_only_the_cells_of_nodes_that_change_are_painted(page: Page) -> None:
    remember(page)
    page.wait_for_function("() => document.querySelector('#item-fleet-map canvas').width > 300")
    page.evaluate(
        """() => {
          window.painted = 0;
          const own = CanvasRenderingContext2D.prototype.fillRect;
          CanvasRenderingContext2D.prototype.fillRect = function (...words) { window.painted += 1; own.apply(this, words); };
        }"""
    )
    states = [[i, "n" if i in {5, 77, 900} else "r"] for i in range(1280)]

    changes = {"id": "fleet-map", "frames": [{"changes": states}]}
    assert page.evaluate("item => updateItem(item)", changes)
    counts = page.locator("#item-fleet-map .legend .count")
    assert counts.all_text_contents() == ["1,277", "0", "0", "3", "0"]
    assert page.evaluate("window.painted") == 3
    assert kept(page)


def test_parts_of_the_page_change_without_the_others(page: Page) -> None:
    remember(page)
    verdict = msgspec.to_builtins(PageVerdict(level="bad", text="2 nodes are not ready."))
    page.evaluate(
        "changes => updatePage(changes)",
        {
            "verdict": verdict,
            "headline": [{"name": "Pods waiting", "value": "9", "unit": "", "level": "warning"}],
            "bands": [{"name": "NodeLost", "start": 5, "end": None, "level": "bad"}],
            "title": "another",
        },
    )

    expect(page.locator(".verdict-text")).to_have_text("2 nodes are not ready.")
    expect(page.locator(".tile-value")).to_have_text("9")
    expect(page.locator("#faults summary")).to_have_text("1 fault is marked in the charts of time")
    # What is out of sight is drawn when it comes into sight.
    page.locator("#item-queue").scroll_into_view_if_needed()
    expect(page.locator("#item-queue .band-name")).to_have_text("NodeLost")
    assert page.title() == "another"
    assert kept(page)


def test_items_come_and_go_with_their_sections(page: Page) -> None:
    section = msgspec.to_builtins(LIVE.sections[0])
    remember(page)
    text = {
        "type": "text",
        "id": "marks",
        "title": "Marks",
        "note": "",
        "lines": ["kwokctl rewind"],
        "copyable": True,
    }
    page.evaluate(
        "sections => updatePage({sections})", [{**section, "items": [text, *section["items"]]}]
    )
    assert kept(page)
    order = page.locator("article").evaluate_all("all => all.map(each => each.id)")
    assert order == ["item-marks", *(f"item-{each['id']}" for each in section["items"])]

    page.evaluate("sections => updatePage({sections})", [{**section, "items": [text]}])
    assert page.locator("article").count() == 1
    expect(page.locator("#bar-time")).to_be_hidden()


def test_an_item_that_is_not_there_is_not_updated(page: Page) -> None:
    assert page.evaluate("updateItem({id: 'nothing', type: 'text', lines: []})") is False


def test_an_unknown_type_of_item_is_named(page: Page) -> None:
    sections = [
        {
            "id": "new",
            "title": "New",
            "lead": "",
            "items": [{"id": "x", "type": "sankey", "title": "Flows"}],
        }
    ]
    page.evaluate("sections => updatePage({sections})", sections)

    expect(page.locator("#item-x")).to_contain_text("This page cannot show items of type 'sankey'.")
