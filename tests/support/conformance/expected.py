"""Which specs cannot pass on fake nodes: the data of `docs/reference/conformance.md`."""

from collections.abc import Collection
from pathlib import Path

import msgspec

from kwokctl.expr import yaml

DATA = Path(__file__).parents[3] / "docs" / "conformance.yaml"


class Group(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Specs that are run together."""

    name: str
    focus: str
    """A regular expression of Go for the text of a spec, its labels included."""
    skip: str = ""
    serial: bool = False
    """Whether they change what all of them see, such as nodes."""


class Unable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Specs that cannot pass, for one reason."""

    reason: str
    specs: tuple[str, ...]


class Expected(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is run, and what cannot pass of it."""

    groups: tuple[Group, ...]
    skip: str
    """What is run in no group."""
    unable: tuple[Unable, ...]

    @property
    def failing(self) -> frozenset[str]:
        """The specs that cannot pass."""
        return frozenset(spec for each in self.unable for spec in each.specs)


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """How a run differs from what is expected."""

    unexpected: tuple[str, ...]
    """Specs that failed, and are not listed."""
    better: tuple[str, ...]
    """Specs that passed, and are listed."""


def expected() -> Expected:
    """Read the data."""
    return msgspec.convert(yaml.load(DATA.read_text(encoding="utf-8")), Expected)


def compared(passed: Collection[str], failed: Collection[str], known: Collection[str]) -> Verdict:
    """Compare what was run with the specs that are known to fail."""
    return Verdict(
        unexpected=tuple(sorted(spec for spec in failed if spec not in known)),
        better=tuple(sorted(spec for spec in passed if spec in known)),
    )
