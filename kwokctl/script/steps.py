"""Says what is done to a machine, as values: they are carried out here, or written as a script."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from kwokctl.model import HttpProbe


def later(variable: str) -> str:
    """Return what stands in words and texts for a value that only the running script knows.

    It survives JSON and YAML; where the script is written it becomes the variable.
    """
    return f"__later_{variable}__"


class Comment(msgspec.Struct, frozen=True):
    """ShellLines for the reader."""

    text: str


class Folder(msgspec.Struct, frozen=True):
    """Make a folder and its parents, unless it is there; a private one only its owner can enter."""

    path: Path
    private: bool = True


class FileText(msgspec.Struct, frozen=True):
    """Write a file."""

    path: Path
    text: str
    mode: int = 0o644


class ShellFunction(msgspec.Struct, frozen=True):
    """A function of the script, which is written once in front of what calls it."""

    name: str
    text: str
    uses: tuple["ShellFunction", ...] = ()


class Command(msgspec.Struct, frozen=True):
    """Run a program to its end."""

    words: tuple[str, ...]
    stdin: str = ""
    unless: tuple[str, ...] = ()
    """Not run if this command, whose output is dropped, succeeds."""
    env: Mapping[str, str] = msgspec.field(default_factory=dict)


class Call(msgspec.Struct, frozen=True):
    """Call a function of the script."""

    function: ShellFunction
    words: tuple[str, ...]


class Assignment(msgspec.Struct, frozen=True):
    """Set a variable to what a command line of the shell prints."""

    variable: str
    text: str


class Until(msgspec.Struct, frozen=True):
    """Wait until a probe holds."""

    probe: HttpProbe
    running: Call
    """Fails once the program that is asked has ended."""


class Deadline(msgspec.Struct, frozen=True):
    """Bound the waits that follow; 0 ends the bound."""

    seconds: float


class ShellLines(msgspec.Struct, frozen=True):
    """Lines of shell as they are."""

    text: str


Action = Comment | Folder | FileText | Command | Call | Assignment | Until | Deadline | ShellLines


class Script(msgspec.Struct, frozen=True, kw_only=True):
    """All that one command would do."""

    command: str
    """The command, as its user called it."""
    steps: tuple[Action, ...]
    variables: Mapping[str, str] = msgspec.field(default_factory=dict)
    """The variables that the first lines set and export."""
