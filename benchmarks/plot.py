"""Draws points and the line through them as SVG.

Only colours of medium lightness are used and no background, so a drawing can be read on a light and
on a dark page without knowing which it is on.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from benchmarks.fit import Line, Point

_WIDTH, _HEIGHT = 380, 280
"""Of a panel, in pixels."""
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 28, 36, 44
_TEXT, _GRID = "#808790", "#8087904d"


@dataclass(frozen=True, slots=True)
class Panel:
    """One diagram."""

    title: str
    across: str
    """What the numbers are."""
    colour: str
    points: Sequence[Point]
    line: Line | None


@dataclass(frozen=True, slots=True)
class _Frame:
    """Where numbers and seconds are in the drawing."""

    left: float
    across: Sequence[float]
    up: Sequence[float]
    """The marks of both axes; the last ones are the ends."""

    def x(self, number: float) -> float:
        return self.left + _LEFT + (_WIDTH - _LEFT - _RIGHT) * number / self.across[-1]

    def y(self, seconds: float) -> float:
        return _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * seconds / self.up[-1]


def marks(most: float) -> list[float]:
    """Return round numbers from 0 on, four to seven of them, of which the last is not below `most`."""
    rough = most / 5 if most > 0 else 0.2
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * 0.999)
    return [round(step * i, 10) for i in range(max(2, math.ceil(most / step - 0.001) + 1))]


def draw(panels: Sequence[Panel]) -> str:
    """Return the panels side by side, as the text of an SVG file."""
    width = _WIDTH * len(panels)
    names = ", ".join(panel.title for panel in panels)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {_HEIGHT}" '
        f'width="{width}" height="{_HEIGHT}" font-family="sans-serif" font-size="12" '
        f'fill="{_TEXT}" role="img">'
    )
    lines = [head, f"<title>{escape(names)}</title>"]
    for number, panel in enumerate(panels):
        lines.extend(_panel(panel, number * _WIDTH))
    return "\n".join([*lines, "</svg>", ""])


def _panel(panel: Panel, left: float) -> Iterator[str]:
    numbers, times = zip(*panel.points, strict=True)
    highest = max(*times, panel.line.at(max(numbers)) if panel.line else 0.0)
    frame = _Frame(left, marks(max(numbers)), marks(highest))
    yield _words(left + _LEFT, 18, "start", panel.title, 'font-weight="bold" font-size="13"')
    yield from _axes(frame)
    yield _words(left + _WIDTH - _RIGHT, _HEIGHT - 8, "end", panel.across)
    if panel.line is not None:
        yield _line(frame, panel.line, max(numbers), panel.colour)
    for number, seconds in panel.points:
        title = f"<title>{number:,.0f}: {seconds:g} s</title>"
        where = f'cx="{frame.x(number):.1f}" cy="{frame.y(seconds):.1f}"'
        yield f'<circle {where} r="4" fill="{panel.colour}">{title}</circle>'


def _axes(frame: _Frame) -> Iterator[str]:
    right = frame.x(frame.across[-1])
    for seconds in frame.up:
        y = frame.y(seconds)
        yield f'<path d="M{frame.x(0):.1f} {y:.1f}H{right:.1f}" stroke="{_GRID}"/>'
        unit = " s" if seconds == frame.up[-1] else ""
        yield _words(frame.x(0) - 6, y + 4, "end", f"{seconds:g}{unit}")
    for number in frame.across:
        yield _words(frame.x(number), _HEIGHT - _BOTTOM + 16, "middle", f"{number:,.0f}")


def _line(frame: _Frame, line: Line, end: float, colour: str) -> str:
    """Draw the line up to the last point, from where it is above zero."""
    begin = max(0.0, -line.intercept / line.slope) if line.slope > 0 else 0.0
    start = f"M{frame.x(begin):.1f} {frame.y(max(0.0, line.at(begin))):.1f}"
    stop = f"L{frame.x(end):.1f} {frame.y(line.at(end)):.1f}"
    style = f'stroke="{colour}" stroke-width="1.5" stroke-dasharray="5 4" fill="none"'
    return f'<path d="{start}{stop}" {style}/>'


def _words(x: float, y: float, anchor: str, text: str, more: str = "") -> str:
    extra = f" {more}" if more else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{extra}>{escape(text)}</text>'
