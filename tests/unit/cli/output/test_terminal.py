import pytest

from kwokctl.cli.output.line_writer import Writer
from kwokctl.cli.output.progress_rows import Row
from kwokctl.cli.output.terminal import Layout, Terminal, laid_out
from tests.support.streams import Awaited, FakeTerminal

HELD = "slowed down: watches are 0.6 s behind, one was ended"


def test_a_short_step_on_a_terminal_is_one_line() -> None:
    stream = FakeTerminal()
    terminal = Terminal(Writer(stream), clock=iter([0.0, 0.1]).__next__, paint_after=60.0)
    with terminal.step("Reading"):
        pass
    assert stream.getvalue() == "✓ Reading (0.1 s)\n"


def test_a_long_step_on_a_terminal_is_painted_until_it_ends() -> None:
    screen = Awaited("Building", is_terminal=True)
    terminal = Terminal(Writer(screen), paint_after=0.0)
    with terminal.step("Building", total=4, unit="programs") as step:
        step.advance(2)
        assert screen.seen.wait(20)
        terminal.note("[bold]not markup[/bold]")
    written = screen.getvalue()
    assert "2 of 4 programs" in written
    assert "  [bold]not markup[/bold]\n" in written
    assert written.rpartition("✓")[2].startswith(" Building (2 programs, ")
    assert written.count("\x1b[?25l") == written.count("\x1b[?25h")


def test_nothing_is_painted_while_a_program_of_the_user_has_the_screen() -> None:
    screen = Awaited("Measuring", is_terminal=True)
    terminal = Terminal(Writer(screen), paint_after=0.0)
    with terminal.step("Measuring"):
        assert screen.seen.wait(20)
        with terminal.set_aside(), terminal.step("Also measuring"):
            assert screen.getvalue().endswith("· Measuring\n")
            assert screen.getvalue().count("\x1b[?25l") == screen.getvalue().count("\x1b[?25h")
            screen.seen.clear()
        assert screen.seen.wait(20)
    written = screen.getvalue()
    assert written.count("Also measuring") == 1
    assert written.rpartition("✓")[2].startswith(" Measuring (")


def test_a_process_that_ends_at_once_gives_the_cursor_back() -> None:
    stream = FakeTerminal()
    Terminal(Writer(stream)).abandon()
    assert stream.getvalue() == "\r\x1b[?25h"


class Ascii(Awaited):
    """A terminal that has ASCII only."""

    encoding = "ascii"


def test_a_terminal_that_has_ascii_only_gets_no_other_character() -> None:
    screen = Ascii("2 of 4", is_terminal=True)
    terminal = Terminal(Writer(screen), paint_after=0.0)
    with terminal.step("Building", total=4, unit="programs") as step:
        step.advance(2)
        assert screen.seen.wait(20)
    assert screen.getvalue().isascii()
    assert "====" in screen.getvalue()


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


def test_what_slows_a_step_is_shown_on_a_separate_line() -> None:
    layout = laid_out(growing(what=HELD), 5.0, 118)

    assert (layout.bar, layout.more) == (24, (HELD,))


@pytest.mark.parametrize(("width", "bar"), [(118, 24), (95, 16), (86, 8), (78, 0)])
def test_the_bar_is_dropped_before_the_numbers(width: int, bar: int) -> None:
    layout = laid_out(growing(), 5.0, width)

    assert layout.bar == bar
    assert layout.numbers == "2,285 of 15,606, 457/s, 29 s left, 5.0 s"


def test_numbers_get_a_separate_line_where_the_title_fills_one() -> None:
    layout = laid_out(growing(what=HELD), 5.0, 38)

    assert (layout.bar, layout.numbers) == (0, "")
    first, rest = HELD[:38], f"  {HELD[39:]}"
    assert layout.more == ("2,285 of 15,606, 457/s, 29 s left", first, rest)


@pytest.mark.parametrize("width", range(20, 130))
def test_no_line_is_longer_than_the_terminal(width: int) -> None:
    shown = lines(laid_out(growing(what=HELD), 5.0, width))

    assert "2,285 of 15,606" in "".join(shown)
    assert all(len(line) <= width for line in shown)
    assert HELD in " ".join(line.strip() for line in shown)


@pytest.mark.parametrize("width", range(20, 70))
def test_a_title_that_is_too_long_goes_on_in_the_next_line(width: int) -> None:
    title = "Building kube-apiserver, kube-controller-manager, kube-scheduler v1.36.3"
    row = Row(title=title, total=None, unit="", started=0.0, depth=0)

    shown = lines(laid_out(row, 5.0, width))

    assert [word for line in shown for word in line.split()] == [*title.split(), "5.0", "s"]
    assert all(len(line) <= max(width, len("  kube-controller-manager,")) for line in shown)


def test_a_step_without_a_total_has_no_bar() -> None:
    row = Row(title="Pulling", total=None, unit="B", started=0.0, depth=0)
    row.say("etcd")

    assert laid_out(row, 1.5, 80) == Layout("Pulling", 0, "1.5 s, etcd")


def test_a_unit_that_the_title_does_not_name_follows_the_number() -> None:
    layout = laid_out(growing("Waiting"), 1.0, 80)

    assert layout.numbers == "2,285 of 15,606 pods, 1.0 s"
