"""Reads the report that ginkgo writes of a run (github.com/onsi/ginkgo/v2/types, Report)."""

from pathlib import Path

import msgspec


class _Spec(msgspec.Struct):
    state: str = msgspec.field(name="State")
    text: str = msgspec.field(name="LeafNodeText", default="")
    kind: str = msgspec.field(name="LeafNodeType", default="")
    containers: list[str] | None = msgspec.field(name="ContainerHierarchyTexts", default=None)

    @property
    def name(self) -> str:
        return " ".join((*(self.containers or ()), self.text))


class _Suite(msgspec.Struct):
    specs: list[_Spec] | None = msgspec.field(name="SpecReports", default=None)


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """The specs that were run, by how they ended."""

    passed: frozenset[str]
    failed: frozenset[str]


def read_report(file: Path) -> Outcome:
    """Return what was run; a spec that was skipped, also by itself, was not."""
    suites = msgspec.json.decode(file.read_bytes(), type=list[_Suite])
    specs = [each for suite in suites for each in suite.specs or () if each.kind == "It"]
    passed = frozenset(each.name for each in specs if each.state == "passed")
    others = frozenset(each.name for each in specs if each.state not in _NOT_FAILED)
    return Outcome(passed=passed, failed=others)


_NOT_FAILED = frozenset(("passed", "skipped", "pending"))
