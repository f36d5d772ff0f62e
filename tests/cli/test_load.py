"""`load`: what its words ask for, and what it says of the end of a run."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kwokctl.load.clear import Cleared, ClearRequest
from kwokctl.load.load_verdict import LoadVerdict, RunVerdict
from kwokctl.load.verbs import LoadRequest
from kwokctl.replacing import replace
from tests.support.recording_runner import RecordingRunner

Words = Callable[[str], int]
_LOAD = """
apiVersion: kwokctl.dev/v1alpha1
kind: Load
metadata: {name: web}
spec:
  arrivals: {every: 1s}
  count: 3
  create: [{template: "{apiVersion: v1, kind: Pod}"}]
"""
_VERDICT = LoadVerdict(
    load="web", phase="web", arrivals=1000, accepted=1000, refused={}, examples={}, retries=0,
    objects=1000, past_api=0, late=0, latest=0.0, asked_rate=100.0, reached_rate=100.0, problem="",
)  # fmt: skip


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "load.yaml"
    path.write_text(_LOAD)
    return str(path)


@pytest.fixture
def with_hooks(file: str) -> str:
    hooks = "spec:\n  hooks: {before: [touch one], after: [touch two]}"
    Path(file).write_text(_LOAD.replace("spec:", hooks))
    return file


def requested(runner: RecordingRunner) -> Any:
    [(_, arguments, _)] = runner.calls
    return arguments[2]


def ended(*loads: LoadVerdict, is_stopped: bool = False) -> RunVerdict:
    return RunVerdict(run="abc", seed=0, loads=loads, is_stopped=is_stopped)


def test_a_run_is_given_its_loads_seed_and_speed(
    words: Words, runner: RecordingRunner, file: str
) -> None:
    runner.answers["run_in_cluster"] = ended(_VERDICT)
    assert words(f"load run -f {file} --seed 7 --speed 2.5") == 0
    request = requested(runner)
    assert isinstance(request, LoadRequest)
    assert [load.name for load in request.loads] == ["web"]
    assert (request.seed, request.speed, request.kubeconfig) == (7, 2.5, None)


def test_the_end_of_a_run_says_how_many_were_accepted_and_how_to_remove_them(
    words: Words, runner: RecordingRunner, file: str, capfd: pytest.CaptureFixture[str]
) -> None:
    runner.answers["run_in_cluster"] = ended(_VERDICT)
    assert words(f"load run -f {file}") == 0
    said = capfd.readouterr().err
    assert "run 'abc' has ended: web: 1,000 of 1,000 arrivals accepted\nRemove what" in said
    assert "kwokctl load clear --run" in said


def test_what_was_not_as_it_was_asked_for_is_said(
    words: Words, runner: RecordingRunner, file: str, capfd: pytest.CaptureFixture[str]
) -> None:
    verdict = replace(
        _VERDICT,
        accepted=990,
        refused={"Forbidden": 10},
        examples={"Forbidden": "exceeded quota"},
        retries=4,
        late=900,
        past_api=700,
        latest=12.34,
        problem="50 of 100 a second: the API server was slower than the load",
    )
    runner.answers["run_in_cluster"] = ended(verdict)
    assert words(f"load run -f {file}") == 0
    said = capfd.readouterr().err
    assert (
        "990 of 1,000 arrivals accepted, 700 objects written past the API server, 10 refused as Forbidden, 4 tried again, "
        "900 late by up to 12.3 s" in said
    )
    assert "web: 50 of 100 a second: the API server was slower than the load\n" in said
    assert "web: Forbidden: exceeded quota\n" in said


def test_a_run_that_a_refusal_has_ended_fails(
    words: Words, runner: RecordingRunner, file: str, capfd: pytest.CaptureFixture[str]
) -> None:
    runner.answers["run_in_cluster"] = ended(_VERDICT, is_stopped=True)
    assert words(f"load run -f {file}") == 1
    assert "run 'abc' was ended by a refusal: web" in capfd.readouterr().err


def test_a_program_gets_every_number(
    words: Words, runner: RecordingRunner, file: str, capfd: pytest.CaptureFixture[str]
) -> None:
    runner.answers["run_in_cluster"] = ended(_VERDICT)
    assert words(f"load run -f {file} -o json") == 0
    result = json.loads(capfd.readouterr().out)["result"]
    assert result["run"] == "abc"
    assert result["loads"][0] == {
        "load": "web", "phase": "web", "arrivals": 1000, "accepted": 1000, "refused": {}, "examples": {},
        "retries": 0, "objects": 1000, "pastApi": 0, "late": 0, "latest": 0.0, "askedRate": 100.0,
        "reachedRate": 100.0, "problem": "",
    }  # fmt: skip


def test_a_dry_run_needs_no_cluster(
    words: Words, runner: RecordingRunner, file: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert words(f"--dry-run load run -f {file}") == 0
    assert runner.calls == []
    assert "# Load 'web': create, 3 arrivals in 2.000 s" in capfd.readouterr().out


def test_commands_are_not_taken_from_standard_input(
    words: Words,
    runner: RecordingRunner,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    path = tmp_path / "stdin"
    path.write_text(_LOAD.replace("  count", "  hooks: {before: [ls]}\n  count"))
    with path.open() as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        assert words("load run -f -") == 1
    assert runner.calls == []
    assert "'spec.hooks' runs commands, which are taken from a file only" in capfd.readouterr().err


def test_a_file_must_be_given(words: Words, runner: RecordingRunner) -> None:
    assert words("load run") == 2
    assert runner.calls == []


def test_what_is_removed_is_chosen_by_load_and_run(
    words: Words, runner: RecordingRunner, capfd: pytest.CaptureFixture[str]
) -> None:
    runner.answers["clear_loads"] = Cleared(objects={"pods": 2, "jobs": 1})
    assert words("load clear web --run abc") == 0
    request = requested(runner)
    assert isinstance(request, ClearRequest)
    assert request.selector == "kwokctl.dev/load=web,kwokctl.dev/run=abc"
    assert "deleted 1 job, 2 pods" in capfd.readouterr().err
    assert ClearRequest().selector == "kwokctl.dev/load"


def test_where_there_is_nothing_to_remove_nothing_has_changed(
    words: Words, runner: RecordingRunner, capfd: pytest.CaptureFixture[str]
) -> None:
    runner.answers["clear_loads"] = Cleared(objects={})
    assert words("load clear -o json") == 0
    document = json.loads(capfd.readouterr().out)
    assert (document["changed"], document["result"]) == (False, {"objects": {}})


@pytest.mark.parametrize(
    "command",
    [
        "load run -f {}",
        "measure --record record.jsonl --load {}",
        "measure compare --run-a true --run-b true --record record.jsonl --load {}",
    ],
)
def test_commands_of_a_load_are_run_only_if_the_user_agrees(
    words: Words, runner: RecordingRunner, with_hooks: str, command: str, capfd: Any
) -> None:
    asked = command.format(with_hooks)

    assert words(asked) == 2
    said = capfd.readouterr().err
    assert "'spec.hooks' runs commands on this machine: 'touch one', 'touch two'" in said
    assert "--allow-hooks" in said
    assert runner.calls == []


def test_who_agrees_in_advance_is_not_asked(
    words: Words, runner: RecordingRunner, with_hooks: str
) -> None:
    runner.answers["run_in_cluster"] = ended(_VERDICT)
    assert words(f"load run -f {with_hooks} --allow-hooks") == 0

    assert requested(runner).loads[0].spec.hooks.after == ("touch two",)
