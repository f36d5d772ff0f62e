import pytest

from kwokctl.cli.output.layout import Layout, laid_out
from kwokctl.cli.output.rows import Row

HELD = "held back: watches are 0.6 s behind, one has been ended"


def growing(title: str = "Creating 15,606 more pods, to 20,000", *, what: str = "") -> Row:
    row = Row(title=title, total=15_606, unit="pods", started=0.0, depth=0)
    row.advance(2_285)
    row.say(what)
    return row


def lines(layout: Layout) -> list[str]:
    first = (layout.title, "-" * layout.bar, layout.numbers)
    return [" ".join(part for part in first if part), *layout.more]


def test_a_wide_terminal_shows_all_in_one_line() -> None:
    layout = laid_out(growing(what=HELD), 5.0, 200)

    assert layout.bar == 24
    assert layout.numbers == f"2,285 of 15,606, 457/s, 29 s left, 5.0 s, {HELD}"
    assert layout.more == ()


def test_what_holds_a_step_back_gets_a_line_of_its_own() -> None:
    layout = laid_out(growing(what=HELD), 5.0, 118)

    assert (layout.bar, layout.more) == (24, (HELD,))


@pytest.mark.parametrize(("width", "bar"), [(118, 24), (95, 16), (86, 8), (78, 0)])
def test_the_bar_gives_way_before_the_numbers(width: int, bar: int) -> None:
    layout = laid_out(growing(), 5.0, width)

    assert layout.bar == bar
    assert layout.numbers == "2,285 of 15,606, 457/s, 29 s left, 5.0 s"


def test_numbers_get_a_line_of_their_own_where_the_title_fills_one() -> None:
    layout = laid_out(growing(what=HELD), 5.0, 38)

    assert (layout.bar, layout.numbers) == (0, "")
    assert layout.more == ("2,285 of 15,606, 457/s, 29 s left", HELD)


@pytest.mark.parametrize("width", range(20, 130))
def test_only_titles_and_reasons_are_ever_longer_than_the_terminal(width: int) -> None:
    title, *more = lines(laid_out(growing(what=HELD), 5.0, width))

    assert "2,285 of 15,606" in "".join([title, *more])
    assert len(title) <= width or title == growing().title
    assert all(len(line) <= width for line in more if line != HELD)


def test_a_step_without_a_total_has_no_bar() -> None:
    row = Row(title="Pulling", total=None, unit="B", started=0.0, depth=0)
    row.say("etcd")

    assert laid_out(row, 1.5, 80) == Layout("Pulling", 0, "1.5 s, etcd")


def test_a_unit_that_the_title_does_not_name_stands_behind_the_number() -> None:
    layout = laid_out(growing("Waiting"), 1.0, 80)

    assert layout.numbers == "2,285 of 15,606 pods, 1.0 s"
