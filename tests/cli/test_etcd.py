"""`kwokctl etcd` and `kectl`: the words of the original, and what they ask for."""

import json
from pathlib import Path

import pytest

from kwokctl.cli.kectl import with_endpoint
from kwokctl.cli.main import run
from kwokctl.cli.verbs.direct_etcd.etcd import common_last
from kwokctl.cli.verbs.direct_etcd.forms import ObjectPrinter
from kwokctl.clusters.direct_etcd.reading import WantedObjects
from kwokctl.etcd.kv.kv import KeyValue
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
        ("etcd put", "'kwokctl etcd put' needs '--path FILE'"),
        ("etcd get po --watch-only", "'--watch' is not supported yet"),
        ("etcd get -o table", "'--output' is 'table'"),
        ("etcd get --dial-timeout 1s", "'--dial-timeout' is for an etcd that '--endpoints' names"),
        ("etcd get --endpoints a:1 --user root", "'--user' is not supported"),
        ("kectl snapshot record", "'kwokctl kectl snapshot' is not supported yet"),
    ],
)
def test_other_words_are_refused(
    runner: RecordingRunner, capfd: pytest.CaptureFixture[str], words: str, message: str
) -> None:
    assert run(words.split(), runner) == 2
    assert capfd.readouterr().err.startswith(f"error: {message}")
    assert runner.calls == []


def test_common_words_of_kectl_come_first_or_last() -> None:
    words = ["--endpoints", "a:1", "--insecure-transport", "--cert=c", "get", "po", "-o", "yaml"]

    assert common_last(words) == [
        *("get", "--endpoints", "a:1", "--insecure-transport", "--cert=c"),
        *("po", "-o", "yaml"),
    ]
    assert common_last(["--help"]) == ["--help"]


def test_kectl_by_itself_asks_etcd_at_its_usual_address() -> None:
    assert with_endpoint(["get"]) == ["--endpoints=127.0.0.1:2379", "get"]
    assert with_endpoint(["--endpoints", "a:1", "get"]) == ["--endpoints", "a:1", "get"]
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
