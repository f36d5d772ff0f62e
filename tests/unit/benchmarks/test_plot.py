from xml.etree import ElementTree as ET

import pytest

from benchmarks.fit import fit
from benchmarks.plot import Panel, draw, marks

SVG = "{http://www.w3.org/2000/svg}"
POINTS = [(1_000, 1.1), (2_000, 1.9), (5_000, 3.0), (20_000, 14.0)]


def panel(title: str) -> Panel:
    return Panel(title, "nodes", "#3b82c4", POINTS, fit(POINTS))


@pytest.mark.parametrize("most", [0.0, 0.03, 0.9, 1.0, 4.9, 5.0, 5.1, 12.1, 254.0, 20_000.0])
def test_marks_are_few_begin_at_zero_and_reach_the_largest_number(most: float) -> None:
    found = marks(most)

    assert found[0] == 0
    assert found[-1] >= most
    assert 2 <= len(found) <= 7
    assert found[-1] <= most + found[1]


def test_a_drawing_is_xml_with_a_dot_for_each_point_of_each_panel() -> None:
    root = ET.fromstring(draw([panel("one"), panel("<other>")]))

    assert len(root.findall(f"{SVG}circle")) == 2 * len(POINTS)
    assert "<other>" in [text.text for text in root.iter(f"{SVG}text")]


def test_all_points_lie_inside_the_drawing_and_later_ones_further_right() -> None:
    root = ET.fromstring(draw([panel("one")]))
    dots = [(float(c.attrib["cx"]), float(c.attrib["cy"])) for c in root.findall(f"{SVG}circle")]

    assert [x for x, _ in dots] == sorted(x for x, _ in dots)
    assert all(0 < x < float(root.attrib["width"]) for x, _ in dots)
    assert all(0 < y < float(root.attrib["height"]) for _, y in dots)


def test_a_line_that_begins_below_zero_is_drawn_from_where_it_is_above() -> None:
    points = [(1_000, 0.1), (2_000, 2.0), (3_000, 4.0)]

    drawn = draw([Panel("steep", "nodes", "#3b82c4", points, fit(points))])

    *levels, line = ET.fromstring(drawn).findall(f"{SVG}path")
    lowest = max(float(level.attrib["d"].split()[1].partition("H")[0]) for level in levels)
    assert float(line.attrib["d"].split()[1].partition("L")[0]) == lowest
