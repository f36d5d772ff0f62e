from itertools import product
from typing import Any

import pytest

from kwokctl.expr.gotemplate.go.plain_layouts import filled
from kwokctl.expr.gotemplate.go.printf import _Printer

VALUES: list[Any] = ["a%", 0, -42, 123456, True, None, 1.5, ["x"], {"k": 1}]
LAYOUTS = [
    "", "%s", "%d", "%v", "%5d", "%05d", "%03d%%", "%%v", "%%s-%v", "a%s", "%s%s", "/n/%s/%d",
    "%5s", "%-5d", "%+d", "%q", "%x", "%[1]s", "%*d", "%.3d", "%", "%!", "%0d", "%00d", "%1000d",
]  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_is_filled_in_at_once_is_as_verb_by_verb(layout: str) -> None:
    for number in range(3):
        for values in product(VALUES, repeat=number):
            at_once = filled(layout, values)
            assert at_once is None or at_once == _Printer(values).fill(layout)


@pytest.mark.parametrize(
    ("layout", "values"),
    [("/nodes/%s/metrics", ("n",)), ("%v-%v", ("n", 1)), ("%06d", (7,)), ("100%%", ())],
)
def test_common_layouts_are_filled_in_at_once(layout: str, values: tuple[Any, ...]) -> None:
    assert filled(layout, values) == _Printer(values).fill(layout)
