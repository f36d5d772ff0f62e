"""Semantic versions, as Sprig has them: https://pkg.go.dev/github.com/Masterminds/semver/v3#Version."""

import re
from dataclasses import dataclass
from functools import total_ordering

from kwokctl.expr.gotemplate.template_error import TemplateError

_PARTS = r"(-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?(\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?"
_VERSION = re.compile(rf"v?([0-9]+)(?:\.([0-9]+))?(?:\.([0-9]+))?{_PARTS}")
_ZERO_FIRST = re.compile(r"(?:^|\.)0[0-9]+(?:\.|$)")
_LARGEST = 2**64


@total_ordering
@dataclass(frozen=True, slots=True, eq=False)
class SemanticVersion:
    """`*semver.Version`; the part after `+` does not count in comparisons."""

    major: int
    minor: int = 0
    patch: int = 0
    prerelease: str = ""
    metadata: str = ""
    original: str = ""

    @property
    def go_type(self) -> tuple[str, str]:
        """The type's name and kind."""
        return ("*semver.Version", "ptr")

    def __str__(self) -> str:
        """Return it in full: `1.2.0-rc.1+build`."""
        prerelease = f"-{self.prerelease}" if self.prerelease else ""
        metadata = f"+{self.metadata}" if self.metadata else ""
        return f"{self.major}.{self.minor}.{self.patch}{prerelease}{metadata}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SemanticVersion) and self._rank == other._rank

    def __hash__(self) -> int:
        return hash(self._rank)

    def __lt__(self, other: "SemanticVersion") -> bool:
        return self._rank < other._rank

    @property
    def release(self) -> tuple[int, int, int]:
        """The three numbers."""
        return self.major, self.minor, self.patch

    @property
    def _rank(self) -> tuple[tuple[int, int, int], bool, list[tuple[bool, int, str]]]:
        """A release sorts after its prereleases, and among their parts numbers come first."""
        return self.release, not self.prerelease, [_part(p) for p in self.prerelease.split(".")]

    def next(self, part: str) -> "SemanticVersion":
        """Return the next `major`, `minor` or `patch` release."""
        place = ("major", "minor", "patch").index(part)
        numbers = [*self.release[:place], self.release[place] + 1, 0, 0][:3]
        if part == "patch" and self.prerelease:
            numbers = list(self.release)
        text = ".".join(map(str, numbers))
        return parse_version(f"v{text}" if self.original.startswith("v") else text)


def parse_version(text: str) -> SemanticVersion:
    """Read a version, which may lack its last numbers; raise TemplateError if it is invalid."""
    match = _VERSION.fullmatch(text)
    if match is None:
        raise TemplateError(f"'{text}' is not a semantic version")
    major, minor, patch, prerelease, metadata = match.groups(default="")
    numbers = int(major), int(minor or 0), int(patch or 0)
    if max(numbers) >= _LARGEST or _ZERO_FIRST.search(prerelease[1:]):
        raise TemplateError(f"'{text}' is not a semantic version")
    return SemanticVersion(*numbers, prerelease[1:], metadata[1:], text)


def _part(text: str) -> tuple[bool, int, str]:
    return (False, int(text), "") if text.isdecimal() else (bool(text), 0, text)
