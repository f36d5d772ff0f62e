"""Everything a pointer can do, the keyboard can: a walk through the page, exact figures, zoom and the fleet's film."""

from playwright.sync_api import Page, expect

from tests.support import sample_pages
from tests.support.browsers import Viewer

RUN = sample_pages.run_page()
FOCUSED = """() => {
  const at = document.activeElement;
  return at.closest('article')?.id + ' ' + (at.getAttribute('aria-label') ?? at.textContent).trim();
}"""

OUTLINE = """() => {
  const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
  return `${outlineStyle} ${outlineWidth}`;
}"""


def focus(page: Page, item: str) -> None:
    """Reach a chart by the keyboard: a focus that a script gives is not shown."""
    page.locator(f"#item-{item} .plot").focus()
    page.keyboard.press("Home")


def value_of(page: Page, item: str) -> str:
    return page.locator(f"#item-{item} .plot").get_attribute("aria-valuetext") or ""


def shown_time(page: Page) -> str:
    return page.locator("#bar-range").inner_text()


def test_tab_reaches_all_that_can_be_used_in_the_order_of_the_page(viewer: Viewer) -> None:
    page = viewer.open(RUN)
    walked = []
    for _ in range(60):
        page.keyboard.press("Tab")
        walked.append(page.evaluate(FOCUSED))
        if walked[-1].startswith("item-commands Copy: kwokctl measure compare"):
            break

    assert walked[:4] == [
        f"undefined {name}" for name in ("Skip to the figures", "Auto", "Light", "Dark")
    ]
    assert "undefined Rates and queues" in walked
    assert "undefined Zoom in" in walked
    for section in RUN.sections:
        for item in section.items:
            assert any(each.startswith(f"item-{item.id} ") for each in walked), item.id
    assert walked[-1].startswith("item-commands Copy")
    assert len(set(walked)) == len(walked)


def test_every_stop_of_the_walk_is_seen(viewer: Viewer) -> None:
    page = viewer.open(RUN)
    outlines = []
    page.keyboard.press("Tab")
    while page.evaluate("document.activeElement !== document.body"):
        outlines.append(page.evaluate(OUTLINE))
        page.keyboard.press("Tab")

    assert len(outlines) > 40
    assert set(outlines) == {"solid 2px"}


def test_arrow_keys_say_the_exact_figures_of_each_bin(viewer: Viewer) -> None:
    page = viewer.open(RUN)
    focus(page, "queue")
    for _ in range(3):
        page.keyboard.press("ArrowRight")

    [waiting] = next(i for s in RUN.sections for i in s.items if i.id == "queue").series  # type: ignore[union-attr]  # the item "queue" has lines
    said = f"15 – 20 s; Waiting: {waiting.values[3]:g} pods"
    assert value_of(page, "queue") == said
    tip = page.locator("#tooltip")
    expect(tip).to_be_visible()
    expect(tip.locator(".tooltip-value")).to_have_text(f"{waiting.values[3]:g} pods")
    expect(tip).to_contain_text("+ and − zoom")
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()


def test_the_faults_at_a_time_are_said_with_its_figures(viewer: Viewer) -> None:
    page = viewer.open(RUN)
    focus(page, "queue")
    for _ in range(65):
        page.keyboard.press("ArrowRight")

    assert "RackPowerLoss rack-03: 260 – 395.5 s; SlowEtcd: 310 – 350 s" in value_of(page, "queue")
    page.keyboard.press("End")
    assert value_of(page, "queue").endswith("XidError gpu-11-04: 540 s, not ended")


def test_keys_zoom_and_move_the_time_of_all_charts(viewer: Viewer) -> None:
    page = viewer.open(RUN)
    assert shown_time(page) == "0:00 – 12:00"
    axes = {
        item: page.locator(f"#item-{item} .axis").text_content() or ""
        for item in ("rates-of-pods", "jobs-over-time")
    }
    focus(page, "queue")
    page.keyboard.press("PageDown")

    page.keyboard.press("+")
    assert shown_time(page) != "0:00 – 12:00"
    expect(page.locator("#announcement")).to_contain_text("Shown: ")
    for item, before in axes.items():
        # What is out of sight is drawn when it comes into sight.
        page.locator(f"#item-{item} .plot").scroll_into_view_if_needed()
        expect(page.locator(f"#item-{item} .axis")).not_to_have_text(before)
    focus(page, "queue")
    before = shown_time(page)
    page.keyboard.press("Shift+ArrowRight")
    assert shown_time(page) != before
    page.keyboard.press("0")
    assert shown_time(page) == "0:00 – 12:00"


def test_the_last_of_2000_jobs_is_reached_and_in_sight(viewer: Viewer) -> None:
    data = sample_pages.run_page(jobs=2000)
    page = viewer.open(data)
    focus(page, "jobs-over-time")
    for _ in range(3):
        page.locator("#item-jobs-over-time").get_by_role("button", name="Higher rows").press(
            "Enter"
        )
    focus(page, "jobs-over-time")

    page.keyboard.press("End")
    assert value_of(page, "jobs-over-time").startswith("team-3/pretrain-01999; Queued: ")
    page.wait_for_function(
        """() => {
          const mark = document.querySelector('#item-jobs-over-time .row-mark').getBoundingClientRect();
          const plot = document.querySelector('#item-jobs-over-time .plot').getBoundingClientRect();
          return mark.top > plot.top && mark.bottom < plot.bottom;
        }"""
    )


def test_arrow_keys_walk_from_node_to_node(viewer: Viewer) -> None:
    page = viewer.open(RUN)
    focus(page, "fleet-map")
    assert value_of(page, "fleet-map").startswith("gpu-00-00; Ready")
    page.keyboard.press("ArrowRight")
    assert value_of(page, "fleet-map").startswith("gpu-00-01; ")
    page.keyboard.press("End")
    assert value_of(page, "fleet-map").startswith("gpu-23-31; ")
    expect(page.locator("#item-fleet-map .ring")).to_be_visible()
    page.keyboard.press("ArrowUp")
    assert value_of(page, "fleet-map").startswith("gpu-23-23; ")


def test_the_film_of_the_fleet_plays_pauses_and_is_moved_by_keys(viewer: Viewer) -> None:
    page = viewer.open(RUN)
    card = page.locator("#item-fleet-map")
    slider = card.locator("input[type=range]")
    slider.press("Home")
    assert slider.get_attribute("aria-valuetext") == "0 s: Not there 768"
    slider.press("ArrowRight")
    assert slider.input_value() == "1"

    card.get_by_role("button", name="Play").press("Enter")
    page.wait_for_function("() => document.querySelector('#item-fleet-map input').value > 5")
    card.get_by_role("button", name="Pause").press("Enter")
    expect(card.get_by_role("button", name="Play")).to_be_visible()
    # All charts of time show which time that is.
    assert page.locator("#item-queue .cursor").count() == 1


def test_who_wants_little_motion_gets_a_picture_a_second(viewer: Viewer) -> None:
    page = viewer.open(RUN, little_motion=True)
    page.clock.install()
    card = page.locator("#item-fleet-map")
    card.locator("input").press("Home")

    card.get_by_role("button", name="Play").press("Enter")
    page.clock.run_for(3_500)
    assert 2 <= int(card.locator("input").input_value()) <= 4
    card.get_by_role("button", name="Pause").press("Enter")
