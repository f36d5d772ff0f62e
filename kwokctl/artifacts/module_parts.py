"""Reads how a user names a part of a Go module: a program in it, or some of its files.

`go:MODULE@VERSION#PACKAGE` is the program of a package of the module, such as
`go:k8s.io/kube-state-metrics/v2@v2.18.0#.`; `go-files:MODULE@VERSION#GLOB,GLOB` is one text of the
YAML files that match. A version may be followed by versions of required modules that others take the
place of: `go:MODULE@VERSION;v0.34.7=v0.34.4#PACKAGE`.
"""

import re

import msgspec

PROGRAM, FILES = "go:", "go-files:"
FORM = f"{PROGRAM}MODULE@VERSION#PACKAGE"
_NAMED = re.compile(
    r"(?P<kind>go|go-files):(?P<module>[A-Za-z0-9.~_-]+(?:/[A-Za-z0-9.~_-]+)*)"
    r"@(?P<version>v[0-9][A-Za-z0-9.+-]*)(?P<instead>(?:;v[0-9][A-Za-z0-9.+-]*=v[0-9][A-Za-z0-9.+-]*)*)"
    r"#(?P<part>[A-Za-z0-9._/*,-]+)"
)


class ModulePart(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a module at a version."""

    module: str
    version: str
    """As Go writes it, with a `v`."""
    part: str
    """The path of a package in the module, or patterns of files, with commas between them."""
    is_files: bool
    instead: tuple[tuple[str, str], ...] = ()
    """Versions of modules that it requires, each with the one that is taken in its place."""

    @property
    def patterns(self) -> list[str]:
        """The patterns of files, in order."""
        return self.part.split(",")

    @property
    def package(self) -> str:
        """The package, as the go command takes it within the module."""
        return f"./{self.part.removeprefix('./').removeprefix('.')}".rstrip("/") or "."

    def __str__(self) -> str:
        kind = FILES if self.is_files else PROGRAM
        instead = "".join(f";{old}={new}" for old, new in self.instead)
        return f"{kind}{self.module}@{self.version}{instead}#{self.part}"


def is_module_part(text: str) -> bool:
    """Return whether a text names a part of a module, rightly or wrongly, and no file."""
    return text.startswith((PROGRAM, FILES))


def module_part(text: str) -> ModulePart:
    """Read how a part is named; ValueError for what is not of that form, or leaves the module."""
    found = _NAMED.fullmatch(text)
    if found is None or ".." in found["part"].split("/") or found["part"].startswith("/"):
        raise ValueError(text)
    pairs = (pair.partition("=") for pair in found["instead"].split(";")[1:])
    return ModulePart(
        module=found["module"],
        version=found["version"],
        part=found["part"],
        is_files=found["kind"] == "go-files",
        instead=tuple((old, new) for old, _, new in pairs),
    )
