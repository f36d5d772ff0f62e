import pytest

from kwokctl.kube.transport.stream import Lines

_TEXT = b"first\n\nsecond, a longer one\nthird\nrest"


@pytest.mark.parametrize("size", range(1, len(_TEXT) + 1))
def test_lines_are_whole_however_they_come(size: int) -> None:
    lines = Lines()
    found = []
    for start in range(0, len(_TEXT), size):
        found += lines.feed(_TEXT[start : start + size])
    assert found == [b"first", b"second, a longer one", b"third"]
    assert lines.feed(b"!\n") == [b"rest!"]


def test_it_returns_whether_there_was_a_whole_line() -> None:
    lines = Lines()
    lines.feed(b"half")
    assert not lines.any_came
    lines.feed(b"\n")
    assert lines.any_came
