"""Sprig's functions for semantic versions.

Constraints are described at https://github.com/Masterminds/semver#checking-version-constraints.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from operator import ge, lt

import msgspec

from kwokctl.expr.gotemplate.functions.arguments import text
from kwokctl.expr.gotemplate.go.semantic_version import SemanticVersion, parse_version
from kwokctl.expr.gotemplate.template_error import TemplateError

_NUMBER = r"(?:[0-9]+|[xX*])"
_SUFFIX = r"(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?"
_VERSION = rf"v?{_NUMBER}(?:\.{_NUMBER})?(?:\.{_NUMBER})?{_SUFFIX}"
_SIGN = r"(?:!=|>=|=>|<=|=<|~>|[=<>~^]|)"
_ONE = re.compile(rf"({_SIGN})\s*({_VERSION})")
_ALL = re.compile(rf"\s*{_SIGN}\s*{_VERSION}\s*(?:(?:\s|,\s*){_SIGN}\s*{_VERSION}\s*)*")
_RANGE = re.compile(rf"\s*({_VERSION})\s+-\s+({_VERSION})\s*")
_WRITTEN = re.compile(rf"v?({_NUMBER})(?:\.({_NUMBER}))?(?:\.({_NUMBER}))?({_SUFFIX})")
_EQUIVALENT = {"=>": ">=", "=<": "<=", "~>": "~", "": "="}


class _Constraint(msgspec.Struct, frozen=True):
    """A sign and a version, and how many of its numbers are given; the others are 0."""

    sign: str
    version: SemanticVersion
    given: int

    def holds(self, version: SemanticVersion) -> bool:
        """Return whether a version is allowed; prereleases must be requested."""
        is_exact_unequal = self.sign == "!=" and self.given == 3
        if version.prerelease and not self.version.prerelease and not is_exact_unequal:
            return False
        return _CHECKS[self.sign](self, version)


def _is_equal(one: _Constraint, version: SemanticVersion) -> bool:
    return version == one.version if one.given == 3 else _is_near(one, version)


def _is_unequal(one: _Constraint, version: SemanticVersion) -> bool:
    if one.given in {0, 3}:
        return version != one.version
    if version.release[: one.given] != one.version.release[: one.given]:
        return True
    return one.given == 2 and version.prerelease != one.version.prerelease


def _is_greater(one: _Constraint, version: SemanticVersion) -> bool:
    if one.given in {0, 3}:
        return version > one.version
    return version.release[: one.given] > one.version.release[: one.given]


def _is_at_most(one: _Constraint, version: SemanticVersion) -> bool:
    if one.given == 3:
        return version <= one.version
    counted = 1 if one.given == 1 else 2
    return version.release[:counted] <= one.version.release[:counted]


def _is_near(one: _Constraint, version: SemanticVersion) -> bool:
    """Return whether only the last number that is given, or that of the patch, is larger."""
    if version < one.version:
        return False
    if one.version.release == (0, 0, 0) and one.given in {0, 3}:
        return True
    counted = 1 if one.given == 1 else 2
    return version.release[:counted] == one.version.release[:counted]


def _is_compatible(one: _Constraint, version: SemanticVersion) -> bool:
    """Return whether the numbers are the same up to the first that is not 0."""
    if version < one.version:
        return False
    release = one.version.release
    leading = next((place for place, number in enumerate(release) if number), 2)
    if 0 < one.given < 3:
        leading = min(leading, one.given - 1)
    return version.release[: leading + 1] == release[: leading + 1]


_CHECKS: dict[str, Callable[[_Constraint, SemanticVersion], bool]] = {
    "=": _is_equal,
    "!=": _is_unequal,
    ">": _is_greater,
    "<": lambda one, version: lt(version, one.version),
    ">=": lambda one, version: ge(version, one.version),
    "<=": _is_at_most,
    "~": _is_near,
    "^": _is_compatible,
}


@lru_cache(256)
def _alternatives(written: str) -> tuple[tuple[_Constraint, ...], ...]:
    """Return the constraints, of whose groups one must hold as a whole."""
    ranges = _RANGE.sub(r">= \1, <= \2 ", written)
    return tuple(_group(part, written) for part in ranges.split("||"))


def _group(part: str, written: str) -> tuple[_Constraint, ...]:
    if _ALL.fullmatch(part) is None:
        raise TemplateError(f"'{written}' is not a constraint on versions")
    return tuple(_constraint(match[1], match[2]) for match in _ONE.finditer(part))


def _constraint(sign: str, written: str) -> _Constraint:
    match = _WRITTEN.fullmatch(written)
    if match is None:
        raise TemplateError(f"'{written}' is not a version")
    numbers = [match[1], match[2] or "x", match[3] or "x"]
    given = next((place for place, number in enumerate(numbers) if number in "xX*"), 3)
    known = ".".join([*numbers[:given], *["0"] * (3 - given)])
    return _Constraint(_EQUIVALENT.get(sign, sign), parse_version(known + match[4]), given)


def _compared(constraint: object, version: object) -> bool:
    groups = _alternatives(text(constraint))
    parsed = parse_version(text(version))
    return any(all(one.holds(parsed) for one in group) for group in groups)


VERSIONS: dict[str, Callable[..., object]] = {
    "semver": lambda version: parse_version(text(version)),
    "semverCompare": _compared,
}
