"""How commands end: with a sentence, a document, or an error and its exit code."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from kwokctl import errors
from kwokctl.cli.main import run
from kwokctl.clusters.delete import Deleted
from kwokctl.clusters.object_files.recording.record import Recorded
from kwokctl.clusters.scaling.scale_request import ScaleResult
from kwokctl.clusters.snapshot import Restored
from kwokctl.clusters.time_travel.rewind import Outlook, Rewound
from kwokctl.clusters.time_travel.stored_marks import Mark
from kwokctl.errors import (
    ApiError,
    BusyError,
    ComponentError,
    EtcdConflictError,
    EtcdRefusedError,
    KwokctlError,
)
from kwokctl.etcd.snapshot_files import SavedSnapshot
from kwokctl.model import Artifact, ClusterName
from kwokctl.replacing import replace
from tests.support.recording_runner import RecordingRunner

Words = Callable[[str], int]


SAVED = SavedSnapshot(path=Path("a b.db"), size=40_000_000, sha256="ab")


RESTORED = Restored(path=Path("a.db"), revision=7)


RECORDED = Recorded(
    path=Path("a.gz"), size=18_000, objects=5, changes=3, unknown=(), lacks_secrets=False
)


MARK = Mark(
    name="a", made=0, prefix="/registry", revision=5, baseline=5, witness=5,
    objects=1_234, size=2_000_000, file="a_5.content",
)  # fmt: skip


REWOUND = Rewound(mark="a", written=12, deleted=3, events=4, unsettled=())


OUTLOOK = Outlook(mark="a", written={"pods": 1_200, "nodes": 2}, deleted={"events": 1})


SCALED = ScaleResult(kind="Node", name="node", created=990, existing=10)


PROGRAMS = {"etcd": Artifact(name="etcd", version="3.6.16", command=("/s/etcd",))}


@pytest.mark.parametrize(
    ("text", "answers", "lines"),
    [
        (
            "start cluster --wait",
            {"start_cluster": ("etcd",)},
            ["cluster 'kwok' is ready", "Look at it with:", "kwokctl get components -o wide"],
        ),
        (
            "start cluster",
            {"start_cluster": ()},
            ["cluster 'kwok' runs already", "Look at it with:", "kwokctl get components -o wide"],
        ),
        (
            "stop cluster --name mine",
            {"stop_cluster": ("etcd",)},
            [
                "cluster 'mine' is stopped; its data stays",
                "Start it again with:",
                "kwokctl --name mine start cluster",
            ],
        ),
        (
            "stop cluster",
            {"stop_cluster": ()},
            [
                "cluster 'kwok' was stopped already; its data stays",
                "Start it again with:",
                "kwokctl start cluster",
            ],
        ),
        (
            "snapshot save --path x",
            {"save_snapshot": SAVED},
            [
                "saved the cluster 'kwok' to 'a b.db' (40.0 MB)",
                "Restore it with:",
                "kwokctl snapshot restore --path 'a b.db'",
            ],
        ),
        (
            "snapshot record --path a.gz",
            {"record_cluster": RECORDED},
            [
                "recorded the cluster 'kwok' in 'a.gz' (5 objects, then 3 changes, 18 kB)",
                "Replay it with:",
                "kwokctl snapshot replay --path a.gz",
            ],
        ),
        (
            "snapshot record --path a.gz",
            {"record_cluster": replace(RECORDED, changes=0)},
            [
                "recorded the cluster 'kwok' in 'a.gz' (5 objects, then 0 changes, 18 kB)",
                "Restore the objects with:",
                "kwokctl snapshot restore --format k8s --path a.gz",
            ],
        ),
        (
            "snapshot mark a",
            {"mark_cluster": MARK},
            [
                "marked the cluster 'kwok' as 'a' (1,234 objects, 2.0 MB)",
                "Go back to it with:",
                "kwokctl snapshot rewind a",
            ],
        ),
        (
            "snapshot rewind",
            {"rewind_cluster": REWOUND},
            ["cluster 'kwok' is back at 'a' (12 objects restored, 3 deleted)"],
        ),
        (
            "snapshot drop a",
            {"drop_marks": ["a"]},
            ["1 mark of the cluster 'kwok' removed"],
        ),
        (
            "snapshot restore --path a.db",
            {"restore_snapshot": RESTORED},
            [
                "cluster 'kwok' is restored from 'a.db'; clients must list again before they watch",
                "List the objects with:",
                "kwokctl kubectl get nodes,pods --all-namespaces",
            ],
        ),
        (
            "snapshot restore --path a.db --without-faults",
            {"restore_snapshot": replace(RESTORED, faults_left_out=2)},
            [
                (
                    "cluster 'kwok' is restored from 'a.db' without its 2 Faults; clients must list again before "
                    "they watch"
                ),
                "List the objects with:",
                "kwokctl kubectl get nodes,pods --all-namespaces",
            ],
        ),
        (
            "scale node --replicas 1000 --wait",
            {"scale": SCALED},
            [
                "'node' has 1,000 nodes, all Ready (990 created)",
                "See them with:",
                "kwokctl kubectl get nodes -l kwok.x-k8s.io/kwokctl-scale=node",
            ],
        ),
        (
            "scale pod --replicas 1 -n web",
            {"scale": ScaleResult(kind="Pod", name="pod", namespace="web", deleted=9, existing=10)},
            [
                "'pod' has 1 pod (9 deleted)",
                "See them with:",
                "kwokctl kubectl -n web get pods -l kwok.x-k8s.io/kwokctl-scale=pod",
            ],
        ),
        (
            "scale pod --replicas 0",
            {"scale": ScaleResult(kind="Pod", name="pod", deleted=9, existing=9)},
            ["'pod' has 0 pods (9 deleted)"],
        ),
        (
            "scale pod --replicas 0",
            {"scale": ScaleResult(kind="Pod", name="pod", deleted=9, existing=9, held=1)},
            [
                "'pod' has 0 pods (9 deleted); 1 more exists until its finalizers are removed",
                "See them with:",
                "kwokctl kubectl get pods -l kwok.x-k8s.io/kwokctl-scale=pod",
            ],
        ),
        (
            "scale node --replicas 5",
            {"scale": ScaleResult(kind="Node", name="node", existing=5, companions=1)},
            [
                "'node' has 5 nodes (1 companion created)",
                "See them with:",
                "kwokctl kubectl get nodes -l kwok.x-k8s.io/kwokctl-scale=node",
            ],
        ),
        (
            "scale pod --replicas 5",
            {"scale": ScaleResult(kind="Pod", name="pod", existing=5)},
            [
                "'pod' has 5 pods (nothing to do)",
                "See them with:",
                "kwokctl kubectl get pods -l kwok.x-k8s.io/kwokctl-scale=pod",
            ],
        ),
        (
            "scale pod --replicas 0",
            {"scale": ScaleResult(kind="Pod", name="pod", deleted=5, existing=5)},
            ["'pod' has 0 pods (5 deleted)"],
        ),
        (
            "artifacts build --kube-version v1.36.3",
            {"build": PROGRAMS},
            ["the programs for Kubernetes v1.36.3 are in the store"],
        ),
        (
            "artifacts images",
            {"stock_images": ["etcd:1"]},
            ["1 image is in the container engine"],
        ),
    ],
)
def test_a_command_that_changes_something_ends_with_a_sentence_or_a_document(
    words: Words,
    runner: RecordingRunner,
    capfd: pytest.CaptureFixture[str],
    text: str,
    answers: dict[str, Any],
    lines: list[str],
) -> None:
    runner.answers.update(answers)

    assert words(text) == 0
    assert capfd.readouterr().err.splitlines() == [*lines[:2], *(f"  {line}" for line in lines[2:])]

    assert words(f"{text} -o json") == 0
    out, err = capfd.readouterr()
    document = json.loads(out)
    assert list(document) == ["command", "cluster", "changed", "message", "seconds", "result"]
    assert text.startswith(document["command"])
    assert document["message"] == lines[0]
    assert isinstance(document["result"], dict)
    assert err == ""


def test_deleted_clusters_are_listed_for_a_program(
    words: Words, runner: RecordingRunner, capfd: pytest.CaptureFixture[str]
) -> None:
    runner.answers["delete_cluster"] = True
    assert words("delete cluster -o json") == 0
    document = json.loads(capfd.readouterr().out)
    assert (document["changed"], document["result"]["deleted"]) == (True, ["kwok"])

    runner.answers["delete_cluster"] = False
    assert words("delete cluster -o yaml") == 0
    document = yaml.safe_load(capfd.readouterr().out)
    assert (document["changed"], document["result"]["deleted"]) == (False, [])


def test_a_failed_verb_shows_the_log_and_exits_with_1(
    words: Words, runner: RecordingRunner, capfd: pytest.CaptureFixture[str]
) -> None:
    runner.answers["create_cluster"] = ComponentError("'etcd' has died", detail="panic: x")
    assert words("create cluster") == 1
    assert capfd.readouterr().err == "error: 'etcd' has died\noutput: panic: x\n"


CLASSES = [
    each
    for each in vars(errors).values()
    if isinstance(each, type) and issubclass(each, KwokctlError)
]


_MORE: dict[type[KwokctlError], dict[str, Any]] = {
    ApiError: {"status": 403},
    EtcdConflictError: {"status": 409, "reason": "Conflict"},
    EtcdRefusedError: {"code": 8},
}
"""What errors of a class have beside their message."""


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_an_error_keeps_its_class_from_a_nested_task_to_the_exit_code(
    words: Words,
    runner: RecordingRunner,
    capfd: pytest.CaptureFixture[str],
    kind: type[KwokctlError],
) -> None:
    error = kind("as raised", **_MORE.get(kind, {}))
    runner.answers["stop_cluster"] = ExceptionGroup("outer", [ExceptionGroup("inner", [error])])

    assert words("stop cluster -o json") == kind.exit_code
    (line,) = capfd.readouterr().err.splitlines()
    assert json.loads(line)["error"]["id"] == kind.id
    assert json.loads(line)["error"]["message"] == "as raised"


@pytest.mark.usefixtures("runner")
@pytest.mark.parametrize(
    ("text", "code", "kind"),
    [
        ("--name nowhere stop cluster", 1, "not-found"),
        ("--name nowhere snapshot rewind", 1, "not-found"),
        ("create cluster --kube-scheduler-port 99999", 2, "usage"),
        ("create cluster --runtime nerdctl", 2, "not-served"),
    ],
)
def test_an_error_of_a_verb_that_runs_keeps_its_class(
    capfd: pytest.CaptureFixture[str], text: str, code: int, kind: str
) -> None:
    assert run([*text.split(), "-o", "json"]) == code
    assert json.loads(capfd.readouterr().err.splitlines()[-1])["error"]["id"] == kind


def test_a_bug_keeps_its_traceback(words: Words, runner: RecordingRunner) -> None:
    runner.answers["stop_cluster"] = KeyError("x")
    with pytest.raises(KeyError):
        words("stop cluster")


def test_an_interrupt_exits_with_the_number_of_its_signal(
    words: Words, runner: RecordingRunner
) -> None:
    runner.answers["stop_cluster"] = KeyboardInterrupt(15)
    assert words("stop cluster") == 143
    runner.answers["stop_cluster"] = KeyboardInterrupt()
    assert words("stop cluster") == 130


def test_deleting_what_is_not_there_is_a_warning(
    words: Words, runner: RecordingRunner, capfd: pytest.CaptureFixture[str]
) -> None:
    runner.answers["delete_cluster"] = False
    assert words("delete cluster --force") == 0
    assert capfd.readouterr().err == "warning: there is no cluster 'kwok'\n"
    assert runner.calls[0][2]["force"] is True


def test_deleting_all_reports_what_was_left_and_fails_for_what_failed(
    words: Words, runner: RecordingRunner, capfd: pytest.CaptureFixture[str]
) -> None:
    busy = BusyError("the cluster 'b' is busy")
    names = (ClusterName("a"),)
    runner.answers["delete_all"] = Deleted(
        names=names, failures={ClusterName("b"): busy}, left=(ClusterName("go"),)
    )
    assert words("delete cluster --all") == 1
    assert capfd.readouterr().err.splitlines() == [
        "cluster 'a' is deleted",
        "warning: not deleted, because the original kwokctl made them: 'go'",
        "delete one with 'kwokctl --name NAME delete cluster --force'",
        "error: the cluster 'b' is busy",
    ]


@pytest.mark.parametrize(
    ("text", "program", "code"),
    [
        ("get clusterz", "kwokctl", 1),
        ("create cluster --compat kwokctl --wait=soon", "", 1),
        ("get clusterz", "other", 2),
        ("create cluster --compat minikube", "", 2),
    ],
)
def test_wrong_words_exit_as_the_originals_do_where_that_is_asked_for(
    words: Words, monkeypatch: pytest.MonkeyPatch, text: str, program: str, code: int
) -> None:
    monkeypatch.setenv("KWOK_COMPAT", program)

    assert words(text) == code


def test_where_the_original_would_log_an_error_is_a_line_of_its_log(
    words: Words, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KWOK_COMPAT", "kwokctl")

    assert words("get clusterz") == 1
    lines = [json.loads(line) for line in capfd.readouterr().err.splitlines()]
    assert [(each["level"], each["msg"][:5]) for each in lines] == [
        ("ERROR", "'kwok"),
        ("INFO", "hint:"),
    ]

    assert words("get clusterz -o json") == 1
    assert json.loads(capfd.readouterr().err)["error"]["id"] == "usage"


def test_a_document_asks_for_the_originals_exit_codes(words: Words, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("{kind: KwokctlConfiguration, options: {compat: kwokctl}}")

    assert words(f"create cluster --config {tmp_path}/a.yaml --wait=soon") == 1


def test_a_rewind_names_what_does_not_stay_as_it_was(
    words: Words, runner: RecordingRunner, capfd: pytest.CaptureFixture[str]
) -> None:
    runner.answers["rewind_cluster"] = replace(REWOUND, unsettled=tuple("12345678"))

    assert words("snapshot rewind") == 0

    last = capfd.readouterr().err.splitlines()[-1]
    assert last == "running components change these again and again: 1, 2, 3, 4, 5 and 3 more"


@pytest.mark.parametrize(("flag", "keeps"), [("", False), (" --keep-events", True)])
def test_a_rewind_keeps_events_on_request(
    words: Words, runner: RecordingRunner, flag: str, keeps: bool
) -> None:
    runner.answers["rewind_cluster"] = REWOUND

    assert words(f"snapshot rewind a{flag}") == 0

    ((_, (_, _, name), said),) = runner.calls
    assert (name, said) == ("a", {"keep_events": keeps})


def test_a_dry_run_of_a_rewind_counts_what_differs(
    words: Words, runner: RecordingRunner, capfd: pytest.CaptureFixture[str]
) -> None:
    runner.answers["foreseen"] = OUTLOOK

    assert words("snapshot rewind --dry-run") == 0

    line = "# To 'a': 2 nodes, 1,200 pods restored; 1 event deleted.\n"
    assert line in capfd.readouterr().out
