"""Schemes, widths, print, and what axe-core finds."""

import pytest
from playwright.sync_api import Page, expect

from kwokctl.measure.pages.page_data import PageData
from tests.support import sample_pages
from tests.support.axe import serious
from tests.support.browsers import Scheme, Viewer

PAGES = {
    "run": sample_pages.run_page(),
    "comparison": sample_pages.comparison_page(),
    "hostile": sample_pages.hostile_page(),
    "live": sample_pages.live_page(racks=4),
}
AXE: list[tuple[str, int, Scheme]] = [
    ("run", 1280, "light"), ("run", 1280, "dark"), ("run", 400, "light"), ("run", 400, "dark"),
    ("comparison", 1280, "dark"), ("comparison", 400, "light"),
    ("hostile", 1280, "light"), ("live", 1280, "dark"),
]  # fmt: skip
GROUND = "() => getComputedStyle(document.body).backgroundColor"
LIGHT, DARK = "rgb(244, 245, 247)", "rgb(18, 22, 28)"
PICTURE = "canvas => canvas.toDataURL()"
OVERFLOW = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.mark.parametrize(("name", "width", "scheme"), AXE)
def test_axe_finds_nothing_serious(
    viewer: Viewer, axe_core: str, name: str, width: int, scheme: Scheme
) -> None:
    page = viewer.open(PAGES[name], width=width, scheme=scheme)
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    expect(page.locator(".behind tbody tr").first).to_be_attached()
    page.locator(".plot").first.focus()
    page.keyboard.press("Home")

    assert serious(page, axe_core) == []


def test_axe_would_find_text_that_is_too_pale(viewer: Viewer, axe_core: str) -> None:
    page = viewer.open(PAGES["comparison"])
    page.evaluate("document.documentElement.style.setProperty('--soft', '#ccc')")

    assert any(each.startswith("color-contrast: ") for each in serious(page, axe_core))


@pytest.mark.parametrize("width", [1280, 400, 320])
@pytest.mark.parametrize("data", PAGES.values(), ids=PAGES)
def test_the_page_is_never_wider_than_the_window(
    viewer: Viewer, data: PageData, width: int
) -> None:
    page = viewer.open(data, width=width)
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")

    assert page.evaluate(OVERFLOW) == 0


def test_the_scheme_is_the_systems_until_another_is_chosen(viewer: Viewer) -> None:
    page = viewer.open(PAGES["run"], scheme="dark")
    assert page.evaluate(GROUND) == DARK
    drawn = _map(page)

    page.get_by_role("button", name="Light").click()
    assert page.evaluate(GROUND) == LIGHT
    assert _map(page) != drawn
    page.reload()
    assert page.evaluate(GROUND) == LIGHT
    expect(page.get_by_role("button", name="Light")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Auto").click()
    assert page.evaluate(GROUND) == DARK


def _map(page: Page) -> str:
    """Return the picture of the fleet map: a canvas does not follow the style sheet by itself."""
    drawn: str = page.locator("#item-fleet-map canvas").evaluate(PICTURE)
    return drawn


PAINTED = """() => {
  window.painted = new Set();
  const own = CanvasRenderingContext2D.prototype.fillRect;
  CanvasRenderingContext2D.prototype.fillRect = function (...words) {
    window.painted.add(this.fillStyle);
    own.apply(this, words);
  };
}"""
"""Notes the colours of all cells that are painted from now on."""


def test_print_is_light_without_what_can_be_pressed(viewer: Viewer) -> None:
    page = viewer.open(PAGES["run"], scheme="dark")
    light = viewer.open(PAGES["run"])
    for each in (page, light):
        each.evaluate(PAINTED)
    light.get_by_role("button", name="Light").click()
    page.emulate_media(media="print", color_scheme="dark")

    assert page.evaluate("() => getComputedStyle(document.documentElement).colorScheme") == "light"
    for hidden in ("#bar", "#theme", ".film", ".controls", ".lines-of-text button"):
        expect(page.locator(hidden).first).to_be_hidden()
    page.wait_for_function("() => window.painted.size > 3")
    assert page.evaluate("[...painted].sort()") == light.evaluate("[...painted].sort()")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("#faults tbody tr").count() == len(PAGES["run"].bands)
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("#faults details[open]").count() == 0
    assert len(page.pdf()) > 10_000


def test_signs_and_words_stand_beside_the_colours_of_levels(viewer: Viewer) -> None:
    page = viewer.open(PAGES["run"])

    words = page.locator(".tile .sign .hidden").all_text_contents()
    assert words == ["warning", "bad", "good"]
    shapes = page.locator(".tile .sign path").evaluate_all(
        "all => all.map(each => each.getAttribute('d'))"
    )
    assert len(set(shapes)) == 3
    dashes = page.locator("#item-rates-of-pods .content .line").evaluate_all(
        "all => all.map(each => getComputedStyle(each).strokeDasharray)"
    )
    assert len(set(dashes)) == 3
