"""`kwokctl etcd` and `kectl`: the words of the original, and what they ask for."""

import json
from pathlib import Path

import pytest

from kwokctl.cli.kectl import with_endpoint
from kwokctl.cli.main import run
from kwokctl.cli.verbs.direct_etcd.etcd import common_last
from kwokctl.cli.verbs.direct_etcd.forms import FORMS, ObjectPrinter
from kwokctl.clusters.direct_etcd.finding import WantedObjects, follow_objects
from kwokctl.clusters.direct_etcd.recording import StoredRecording, StoredRecordingRequest
from kwokctl.clusters.direct_etcd.replaying import StoredReplayRequest
from kwokctl.clusters.object_files.recording.replay import Replayed
from kwokctl.etcd.kv.kv import KeyChange, KeyValue
from tests.support.recording_runner import RecordingRunner

GOLDEN = Path(__file__).parents[1] / "golden" / "stored_objects.json"


def _wanted(runner: RecordingRunner) -> WantedObjects:
    (_, (_, work), _) = runner.calls[-1]
    wanted: WantedObjects = work.keywords["wanted"]
    return wanted


@pytest.mark.parametrize(
    "words",
    [
        "etcd get po web -n other",
        "kectl get po web -n other",
        "kectl -n other get po web",
        "--name kwok kectl --endpoints=http://127.0.0.1:1 get po web --namespace=other",
        "kectl --endpoints 127.0.0.1:1 --insecure-transport --dial-timeout 1s get -n other po web",
    ],
)
def test_words_say_which_objects_are_meant(
    runner: RecordingRunner, capfd: pytest.CaptureFixture[str], words: str
) -> None:
    runner.answers["with_objects"] = 3

    assert run(words.split(), runner) == 0

    assert _wanted(runner) == WantedObjects(resource="po", name="web", namespace="other")
    assert capfd.readouterr().err == "get 3 keys\n"


@pytest.mark.parametrize("words", ["etcd delete po web", "kectl delete po web", "kectl del po web"])
def test_deleted_keys_are_printed_and_counted(
    runner: RecordingRunner, capfd: pytest.CaptureFixture[str], words: str
) -> None:
    runner.answers["with_objects"] = [KeyValue(b"/registry/pods/default/web", b"", 1)]

    assert run(words.split(), runner) == 0

    assert capfd.readouterr() == ("/registry/pods/default/web\n", "delete 1 keys\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("etcd delete pods", "'kwokctl etcd delete' needs either a NAME or '--all'"),
        ("etcd delete pods web --all", "'kwokctl etcd delete' needs either a NAME or '--all'"),
        (
            "etcd delete --all",
            "'kwokctl etcd delete --all' without a RESOURCE would delete everything",
        ),
        ("etcd put", "'kwokctl etcd put' needs '--path FILE'"),
        ("etcd get -o table", "'--output' is 'table'"),
        ("etcd get --dial-timeout 1s", "'--dial-timeout' needs '--endpoints'"),
        ("etcd get --endpoints a:1 --discovery-srv b", "'--discovery-srv' is not supported"),
        ("etcd get --user root:x", "'--user' needs '--endpoints'"),
        ("etcd get --endpoints a:1 --user root", "'--user root' needs one password"),
        ("etcd get --endpoints a:1 --user root:x --password y", "'--user root' needs one password"),
        ("etcd get --endpoints a:1 --password y", "'--password' needs '--user'"),
        (
            f"etcd get --endpoints a:1 --cacert {__file__} --insecure-skip-tls-verify",
            "'--cacert' and '--insecure-skip-tls-verify' exclude each other",
        ),
        ("etcd snapshot record", "'kwokctl etcd snapshot record' needs '--path FILE'"),
        ("kectl snapshot replay", "'kectl snapshot replay' needs '--path FILE'"),
        ("etcd get --name other --endpoints a:1", "'--name' and '--endpoints' exclude each other"),
    ],
)
def test_other_words_are_refused(
    runner: RecordingRunner, capfd: pytest.CaptureFixture[str], words: str, message: str
) -> None:
    assert run(words.split(), runner) == 2
    assert capfd.readouterr().err.startswith(f"error: {message}")
    assert runner.calls == []


@pytest.mark.parametrize("words", ["etcd get po -w", "kectl get po --watch-only -o yaml"])
def test_objects_are_followed_if_that_is_asked(runner: RecordingRunner, words: str) -> None:
    runner.answers["with_objects"] = None

    assert run(words.split(), runner) == 0

    (_, (_, work), _) = runner.calls[-1]
    assert work.func is follow_objects
    assert work.keywords["wanted"] == WantedObjects(resource="po")
    assert work.keywords["only_changes"] is ("--watch-only" in words)


@pytest.mark.parametrize("command", ["etcd", "kectl --endpoints a:1"])
def test_a_recording_of_the_original_is_made_and_replayed_by_its_words(
    runner: RecordingRunner, command: str, tmp_path: Path
) -> None:
    path = tmp_path / "run.yaml"
    runner.answers["with_objects"] = StoredRecording(
        path=path, size=7, objects=3, changes=0, faults=()
    )
    recording = f"{command} snapshot record --path={path} --snapshot=true"
    assert run(recording.split(), runner) == 0
    (_, (_, record), _) = runner.calls[-1]
    assert record.keywords["request"] == StoredRecordingRequest(path=path, only_snapshot=True)

    path.touch()
    runner.answers["with_objects"] = Replayed(path=path, objects=3, changes=2, failed=())
    assert run(f"{command} snapshot replay --path {path} --speed 2".split(), runner) == 0
    (_, (_, replay), _) = runner.calls[-1]
    assert replay.keywords["request"] == StoredReplayRequest(path=path, speed=2.0)


def test_what_was_deleted_is_shown_as_that(capfd: pytest.CaptureFixture[str]) -> None:
    gone = KeyChange(KeyValue(b"/registry/key", b"", 1), is_deleted=True)
    printers = {form: ObjectPrinter(form) for form in FORMS}

    shown = {}
    for form, printer in printers.items():
        printer.write_change(gone)
        shown[form] = capfd.readouterr().out

    assert shown == {
        "key": "/registry/key\n",
        "yaml": "---\n# /registry/key | deleted\n",
        "json": "",
        "raw": "/registry/key\n\n",
        "none": "",
    }
    assert printers["json"].faults == ["'/registry/key' was deleted"]


def test_common_words_of_kectl_come_first_or_last() -> None:
    words = ["--endpoints", "a:1", "--insecure-transport", "--cert=c", "get", "po", "-o", "yaml"]

    assert common_last(words) == [
        *("get", "--endpoints", "a:1", "--insecure-transport", "--cert=c"),
        *("po", "-o", "yaml"),
    ]
    assert common_last(["--cert", "c", "snapshot", "record", "--path", "f"]) == [
        *("snapshot", "record", "--cert", "c", "--path", "f"),
    ]
    assert common_last(["--help"]) == ["--help"]


def test_kectl_by_itself_asks_etcd_at_its_usual_address() -> None:
    assert with_endpoint(["get"]) == ["--endpoints=127.0.0.1:2379", "get"]
    assert with_endpoint(["--endpoints", "a:1", "get"]) == ["--endpoints", "a:1", "get"]
    assert with_endpoint(["get", "--name", "other"]) == ["get", "--name", "other"]
    assert with_endpoint(["--help"]) == ["--help"]


def _printed(capfd: pytest.CaptureFixture[str], form: str, *values: bytes) -> tuple[str, list[str]]:
    printer = ObjectPrinter(form)
    for value in values:
        printer.write(KeyValue(b"/registry/key", value, 1))
    return capfd.readouterr().out, printer.faults


def test_the_forms_are_those_of_the_original(capfd: pytest.CaptureFixture[str]) -> None:
    value = b'{"kind":"Widget","apiVersion":"example.com/v1","metadata":{"name":"a"}}\n'

    assert _printed(capfd, "key", value) == ("/registry/key\n", [])
    assert _printed(capfd, "raw", value) == (f"/registry/key\n{value.decode()}\n", [])
    assert _printed(capfd, "none", value) == ("", [])
    assert _printed(capfd, "json", value, value) == (value.decode() * 2, [])
    assert _printed(capfd, "yaml", value)[0] == (
        "---\n# /registry/key | application/json\n"
        "apiVersion: example.com/v1\nkind: Widget\nmetadata:\n  name: a\n\n"
    )


def test_values_that_cannot_be_shown_are_named_and_the_others_are_shown(
    capfd: pytest.CaptureFixture[str],
) -> None:
    lease = json.loads(GOLDEN.read_text())["leases/default/held"]["document"]
    text, faults = _printed(capfd, "yaml", b"k8s:enc:x", json.dumps(lease).encode())

    assert text.startswith("---\n# /registry/key | raw\n---\n")
    assert "kind: Lease" in text
    assert faults == ["'/registry/key' cannot be shown: it is encrypted; read it with -o raw"]
