"""The port through which the command writes to people, and the choice of its implementation.

Everything goes to standard error; standard output carries results alone.
"""

from collections.abc import Mapping
from typing import Protocol, TextIO

from kwokctl.cli.output import standard_streams
from kwokctl.cli.output.line_writer import Writer
from kwokctl.cli.output.plain import Plain
from kwokctl.progress import Progress


class Console(Progress, Protocol):
    """Progress for a person, and the lines that are not progress."""

    @property
    def is_alive(self) -> bool:
        """Whether a person is watching."""
        ...

    def line(self, text: str = "", *, label: str = "", whole: bool = False) -> None:
        """Write lines; `label` is kwokctl's and may be coloured, `text` is not trusted.

        What is `whole` is for copying: no line is parted where a terminal is narrow.
        """
        ...

    def abandon(self) -> None:
        """Leave the terminal usable when the process ends at once."""
        ...


def choose(stream: TextIO, environ: Mapping[str, str], *, as_log: bool = False) -> Console:
    """Return the console for the stream: animated on a terminal, plain lines elsewhere.

    `CI` and `TERM=dumb` ask for plain lines, `NO_COLOR` for no colours; `as_log` asks for JSON lines
    where there is no terminal.
    """
    if as_log and not stream.isatty():
        from kwokctl.cli.output.json_lines import JsonLines

        return JsonLines(stream)
    if not standard_streams.is_screen(stream, environ) or environ.get("CI"):
        return Plain(stream)
    from kwokctl.cli.output.terminal import Terminal

    return Terminal(Writer(stream, is_coloured=not environ.get("NO_COLOR")))
