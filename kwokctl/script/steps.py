"""Says what is done to a machine, as values: they are carried out here, or written as a script."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kwokctl.model import HttpProbe


def later(variable: str) -> str:
    """Return what stands in words and texts for a value that only the running script knows.

    It survives JSON and YAML; where the script is written it becomes the variable.
    """
    return f"__later_{variable}__"


@dataclass(frozen=True, slots=True)
class Comment:
    """ShellLines for the reader."""

    text: str


@dataclass(frozen=True, slots=True)
class Folder:
    """Make a folder and its parents, unless it is there; a private one only its owner can enter."""

    path: Path
    private: bool = True


@dataclass(frozen=True, slots=True)
class FileText:
    """Write a file."""

    path: Path
    text: str
    mode: int = 0o644


@dataclass(frozen=True, slots=True)
class ShellFunction:
    """A function of the script, which is written once in front of what calls it."""

    name: str
    text: str
    uses: tuple["ShellFunction", ...] = ()


@dataclass(frozen=True, slots=True)
class Command:
    """Run a program to its end."""

    words: tuple[str, ...]
    stdin: str = ""
    unless: tuple[str, ...] = ()
    """Not run if this command, whose output is dropped, succeeds."""
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Call:
    """Call a function of the script."""

    function: ShellFunction
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Assignment:
    """Set a variable to what a command line of the shell prints."""

    variable: str
    text: str


@dataclass(frozen=True, slots=True)
class Until:
    """Wait until a probe holds."""

    probe: HttpProbe
    running: Call
    """Fails once the program that is asked has ended."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """Bound the waits that follow; 0 ends the bound."""

    seconds: float


@dataclass(frozen=True, slots=True)
class ShellLines:
    """Lines of shell as they are."""

    text: str


Action = Comment | Folder | FileText | Command | Call | Assignment | Until | Deadline | ShellLines


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """All that one command would do."""

    command: str
    """The command, as its user called it."""
    steps: tuple[Action, ...]
    variables: Mapping[str, str] = field(default_factory=dict)
    """What is set, and exported, in the first lines."""
