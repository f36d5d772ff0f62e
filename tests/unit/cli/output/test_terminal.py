from kwokctl.cli.output.terminal import Terminal
from kwokctl.cli.output.writer import Writer
from tests.support.streams import Awaited, FakeTerminal


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
