"""The comparison of Kubernetes' own tests with the list of those that cannot pass."""

import json
from pathlib import Path

from tests.support.conformance.expected import compared, expected
from tests.support.conformance.report import read_report


def spec(name: str, state: str, kind: str = "It") -> dict[str, object]:
    texts = name.split()
    return {
        "State": state,
        "LeafNodeType": kind,
        "LeafNodeText": texts[-1],
        "ContainerHierarchyTexts": texts[:-1],
        "Failure": {"Message": "more than is read"},
    }


def test_specs_are_named_as_they_are_nested_and_only_what_was_run_counts(tmp_path: Path) -> None:
    specs = [
        spec("[sig-apps] Job a", "passed"),
        spec("[sig-apps] Job b", "failed"),
        spec("[sig-apps] Job c", "timedout"),
        spec("[sig-apps] Job d", "skipped"),
        spec("x", "passed", "SynchronizedBeforeSuite"),
    ]
    file = tmp_path / "report.json"
    file.write_text(json.dumps([{"SpecReports": specs}]))

    found = read_report(file)

    assert found.passed == {"[sig-apps] Job a"}
    assert found.failed == {"[sig-apps] Job b", "[sig-apps] Job c"}


def test_what_fails_without_being_listed_is_told_from_what_passes_although_it_is() -> None:
    verdict = compared({"a", "b"}, {"c", "d"}, {"b", "c", "not run"})

    assert verdict.unexpected == ("d",)
    assert verdict.better == ("b",)


def test_each_spec_is_listed_once_with_a_reason() -> None:
    listed = [name for each in expected().unable for name in each.specs]

    assert len(listed) == len(set(listed))
    assert all(each.reason and each.specs for each in expected().unable)
    assert all(name.startswith("[sig-") for name in listed)
