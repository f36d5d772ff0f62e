"""From the words of `snapshot export` and of the format k8s to verbs, and from results to sentences."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from kwokctl.clusters.object_files.exporting.export import ExportedObjects
from kwokctl.clusters.object_files.restoring.restore import RestoredObjects
from kwokctl.replacing import replace
from tests.support.recording_runner import RecordingRunner

Words = Callable[[str], int]
KUBECONFIG = """
apiVersion: v1
kind: Config
current-context: prod
clusters: [{name: prod, cluster: {server: "http://192.0.2.1:6443"}}]
contexts: [{name: prod, context: {cluster: prod, user: me}}]
users: [{name: me, user: {token: t}}]
"""
EXPORTED = ExportedObjects(
    path=Path("a b.yaml"), size=2_000_000, objects=1_234, unknown=("gadget",), lacks_secrets=True
)
RESTORED = RestoredObjects(
    path=Path("a.yaml"),
    created=12,
    updated=3,
    left=4,
    skipped=("Pod 'default/a': its owner Job 'j' is missing",),
    failed=tuple(f"Node '{name}': no" for name in "abcde"),
)


def test_a_save_says_what_is_left_out(
    words: Words, runner: RecordingRunner, capfd: pytest.CaptureFixture[str]
) -> None:
    runner.answers["save_objects"] = EXPORTED

    assert words("snapshot save --format k8s --path x --filter po,gadget --filter no") == 0

    [(_, args, _)] = runner.calls
    assert (args[2].path, args[2].kinds, args[2].resumes) == (
        Path("x"), ("po", "gadget", "no"), False,
    )  # fmt: skip
    assert capfd.readouterr().err.splitlines() == [
        "wrote the cluster 'kwok' to 'a b.yaml' (1,234 objects, 2.0 MB)",
        "Restore it with:",
        "  kwokctl snapshot restore --format k8s --path 'a b.yaml'",
        "it does not have: gadget",
        "Secrets are left out; --with-secrets adds them",
    ]


@pytest.mark.parametrize(
    ("flags", "program", "expected"),
    [
        ("", "kwokctl", True),
        ("--filter pod", "kwokctl", False),
        ("--no-with-secrets", "kwokctl", False),
        ("", "", False),
        ("--with-secrets", "", True),
    ],
)
def test_secrets_are_saved_if_asked_for_and_as_the_original_does(
    words: Words,
    runner: RecordingRunner,
    monkeypatch: pytest.MonkeyPatch,
    flags: str,
    program: str,
    expected: bool,
) -> None:
    runner.answers["save_objects"] = EXPORTED
    monkeypatch.setenv("KWOK_COMPAT", program)

    assert words(f"snapshot save --format k8s --path x {flags}") == 0

    [(_, args, _)] = runner.calls
    assert args[2].with_secrets is expected


def test_an_etcd_snapshot_without_secrets_is_refused(words: Words) -> None:
    assert words("snapshot save --path x --no-with-secrets") == 2


def test_an_export_asks_in_the_place_of_another_user(
    words: Words, runner: RecordingRunner, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    runner.answers["export_objects"] = EXPORTED
    (tmp_path / "config").write_text(KUBECONFIG)
    options = "--as me --as-group a --as-group b --page-size 5 --page-buffer-size 2 --qps 1.5"

    line = f"snapshot export --kubeconfig {tmp_path}/config --path x {options} -o json"
    assert words(line) == 0

    [(_, (source, request, _), _)] = runner.calls
    access = source.access()
    assert (access.as_user, access.as_groups) == ("me", ("a", "b"))
    reading = request.reading
    assert (reading.page_size, reading.pages_ahead, reading.qps) == (5, 2, 1.5)
    assert (request.resumes, request.with_secrets) == (True, False)
    document = json.loads(capfd.readouterr().out)
    assert (document["result"]["objects"], document["cluster"]) == (1_234, "")


@pytest.mark.parametrize("option", ["--qps 5", "--page-size 9", "--page-buffer-size 3"])
def test_a_recording_refuses_how_pages_are_read(
    words: Words, runner: RecordingRunner, option: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert words(f"snapshot export --path x --record {option}") == 2

    assert f"'{option.split(maxsplit=1)[0]}' is not for '--record'" in capfd.readouterr().err
    assert not runner.calls


def test_a_restore_names_what_it_could_not_do(
    words: Words, runner: RecordingRunner, capfd: pytest.CaptureFixture[str]
) -> None:
    runner.answers["restore_objects"] = RESTORED

    assert words("snapshot restore --format k8s --path a.yaml --filter pod") == 1

    assert runner.calls[0][1][1:] == ("kwok", Path("a.yaml"), ("pod",))
    assert capfd.readouterr().err.splitlines() == [
        (
            "restored a part of 'a.yaml' in the cluster 'kwok' (12 objects created, 3 updated, 4 left, "
            "which a cluster makes itself, 5 refused)"
        ),
        "1 without their owner:",
        "  Pod 'default/a': its owner Job 'j' is missing",
        "5 refused:",
        "  Node 'a': no",
        "  Node 'b': no",
        "  Node 'c': no",
        "  and 2 more: see them with -o json",
    ]


def test_a_program_sees_that_a_restore_is_partial(
    words: Words, runner: RecordingRunner, capfd: pytest.CaptureFixture[str]
) -> None:
    runner.answers["restore_objects"] = RESTORED

    assert words("snapshot restore --format k8s --path a.yaml -o json") == 1

    assert len(json.loads(capfd.readouterr().out)["result"]["failed"]) == 5


def test_a_restore_says_how_many_faults_it_left_out(
    words: Words, runner: RecordingRunner, capfd: pytest.CaptureFixture[str]
) -> None:
    runner.answers["restore_objects"] = replace(RESTORED, failed=(), faults_left_out=1_200)

    assert words("snapshot restore --format k8s --path a.yaml --without-faults") == 0

    assert runner.calls[0][2] == {"without_faults": True}
    assert "1,200 Faults left out" in capfd.readouterr().err


def test_a_restore_without_refusals_succeeds(
    words: Words, runner: RecordingRunner, capfd: pytest.CaptureFixture[str]
) -> None:
    runner.answers["restore_objects"] = replace(RESTORED, failed=())

    assert words("snapshot restore --format k8s --path a.yaml") == 0

    assert capfd.readouterr().err.startswith(
        "restored the cluster 'kwok' from 'a.yaml' (12 objects"
    )


def test_a_dry_run_says_what_would_be_read_and_written(
    words: Words, runner: RecordingRunner, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "config").write_text(KUBECONFIG)
    runner.answers["foreseen_objects"] = {"pods": 1_200, "nodes": 2}

    assert words(f"snapshot export --dry-run --kubeconfig {tmp_path}/config --path x") == 0
    assert "Read the default kinds and all custom resources of the cluster of '" in (
        capfd.readouterr().out
    )
    assert words("snapshot save --dry-run --format k8s --path x --filter pod") == 0
    assert "Read pod of the cluster 'kwok'" in capfd.readouterr().out
    assert words("snapshot restore --dry-run --format k8s --path x") == 0
    assert "Create, or update: 2 nodes, 1,200 pods." in capfd.readouterr().out
    assert [verb for verb, _, _ in runner.calls] == ["foreseen_objects"]
