from pathlib import Path

import pytest

from kwokctl.clusters.stage_tools.cases import CaseResult, run_cases
from kwokctl.errors import NotFoundError
from kwokctl.expr import yaml

STAGE = """
kind: Stage
metadata: {name: gone}
spec:
  resourceRef: {kind: Pod}
  selector: {matchLabels: {a: b}}
  delay: {durationMilliseconds: 1000}
  steps: [{delete: true}]
"""
POD = "{apiVersion: v1, kind: Pod, metadata: {name: p, labels: {a: b}}}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "stage.yaml").write_text(STAGE)
    (tmp_path / "testdata").mkdir()
    (tmp_path / "testdata" / "p.input.yaml").write_text(POD)
    return tmp_path


def run(folder: Path, *, is_writing: bool = False) -> CaseResult:
    [found] = run_cases(folder, [], is_writing=is_writing)
    assert found.name == "testdata/p"
    return found


def test_what_was_written_passes_and_what_differs_is_shown(folder: Path) -> None:
    output = folder / "testdata" / "p.output.yaml"

    assert run(folder).state == "missing"
    assert run(folder, is_writing=True).state == "written"
    assert run(folder).state == "passed"
    output.write_text(output.read_text().replace("gone", "other"))
    failed = run(folder)

    assert failed.state == "failed"
    assert "-  stage: other" in failed.difference
    assert "+  stage: gone" in failed.difference


def test_a_delay_of_one_length_may_be_written_once_as_in_tests_of_the_original(
    folder: Path,
) -> None:
    run(folder, is_writing=True)
    output = folder / "testdata" / "p.output.yaml"
    expected = yaml.load(output.read_text())
    expected["stages"][0]["delay"] = [1_000_000_000]
    output.write_text(yaml.dump(expected))

    assert run(folder).state == "passed"


WRITES = """
kind: Stage
metadata: {name: writes}
spec:
  resourceRef: {kind: Pod}
  selector: {matchLabels: {a: b}}
  steps: [{patch: {type: merge, template: 'found: TEMPLATE'}}]
"""


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{{ Now }}", "<Now>"),
        ('{{ Quote (now | date "2006-01-02") }}', "2026-01-01"),
        ('{{ Quote ((now.Add 60000000000).Format "15:04") }}', "00:01"),
        ('{{ ago (toDate "2006-01-02" "2025-12-31") }}', "24h0m0s"),
        ("{{ uuidv4 }}", "<uuidv4>"),
        ("{{ randAlpha 5 }}", "<randAlpha(5)>"),
        ("{{ randAlphaNum 5 }}", "<randAlphaNum(5)>"),
        ("{{ randAscii 5 }}", "<randAscii(5)>"),
        ("{{ randBytes 5 }}", "<randBytes(5)>"),
        ("{{ randInt 1 5 }}", "<randInt(1, 5)>"),
        ("{{ randNumeric 5 }}", "<randNumeric(5)>"),
        ('{{ shuffle "abc" }}', '<shuffle("abc")>'),
    ],
)
def test_time_and_chance_do_not_change_what_a_test_finds(
    folder: Path, template: str, expected: str
) -> None:
    (folder / "stage.yaml").write_text(WRITES.replace("TEMPLATE", template.replace("'", "''")))
    run(folder, is_writing=True)

    written = yaml.load((folder / "testdata" / "p.output.yaml").read_text())
    assert written["stages"][0]["next"][0]["data"] == {"found": expected}
    assert run(folder).state == "passed"


def test_a_folder_without_tests_or_stages_is_refused(folder: Path, tmp_path: Path) -> None:
    (folder / "stage.yaml").unlink()

    with pytest.raises(NotFoundError, match="no Stages"):
        run(folder)
    (folder / "testdata" / "p.input.yaml").unlink()
    with pytest.raises(NotFoundError, match="no test"):
        run(folder)
