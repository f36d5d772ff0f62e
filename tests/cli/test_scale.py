"""`scale` never deletes by a slip: what must be said, what is refused, and when it is asked."""

import sys
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from kwokctl.cli import confirmation
from kwokctl.cli.main import run
from kwokctl.cli.output.plain import Plain
from kwokctl.clusters.scaling.scale_request import ScaleRequest, ScaleResult, unasked
from kwokctl.host.paths import WorkDir
from kwokctl.model import ClusterName
from tests.support.options import cluster_options
from tests.support.recording_runner import RecordingRunner
from tests.support.saved_cluster import save_cluster

Words = Callable[[str], int]


def requested(runner: RecordingRunner) -> ScaleRequest:
    """Return what the verb was given."""
    [(_, arguments, _)] = runner.calls
    request = arguments[2]
    assert isinstance(request, ScaleRequest)
    return request


@pytest.mark.parametrize("text", ["scale node", "scale pod web", "--dry-run scale node"])
def test_without_replicas_nothing_is_done(
    words: Words, runner: RecordingRunner, capfd: pytest.CaptureFixture[str], text: str
) -> None:
    assert words(text) == 2

    assert runner.calls == []
    said = capfd.readouterr().err
    assert "'--replicas' is missing: nothing was created or deleted" in said
    assert f"kwokctl {text.removeprefix('--dry-run ')} --replicas 10" in said


@pytest.mark.parametrize("text", ["scale nodes 25", "scale nodes -n 25"])
def test_a_number_in_place_of_a_name_is_the_number_of_the_hint(
    words: Words, capfd: pytest.CaptureFixture[str], text: str
) -> None:
    assert words(text) == 2

    assert "kwokctl scale nodes --replicas 25\n" in capfd.readouterr().err


def test_the_original_s_ways_make_it_one_object(
    words: Words, runner: RecordingRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner.answers["scale"] = ScaleResult(kind="Pod", name="web", created=1)
    monkeypatch.setenv("KWOK_COMPAT", "kwokctl")

    assert words("scale pod web") == 0

    assert requested(runner).replicas == 1


def test_a_document_can_ask_for_the_original_s_ways(
    words: Words, runner: RecordingRunner, environ: dict[str, str]
) -> None:
    runner.answers["scale"] = ScaleResult(kind="Pod", name="web", created=1)
    file = Path(environ["KWOK_WORKDIR"]) / "kwok.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(
        "apiVersion: config.kwok.x-k8s.io/v1alpha1\n"
        "kind: KwokctlConfiguration\n"
        "options: {compat: kwokctl}\n"
    )

    assert words("scale pod web") == 0

    assert requested(runner).replicas == 1


@pytest.mark.parametrize(("compat", "code"), [("kwokctl", 0), ("", 2)])
def test_a_cluster_can_have_been_created_with_the_original_s_ways(
    words: Words, runner: RecordingRunner, environ: dict[str, str], compat: str, code: int
) -> None:
    runner.answers["scale"] = ScaleResult(kind="Pod", name="web", created=1)
    workdir = WorkDir(Path(environ["KWOK_WORKDIR"]))
    save_cluster(workdir, ClusterName("kwok"), cluster_options(compat=compat))

    assert words("scale pod web") == code

    assert len(runner.calls) == (code == 0)


def test_a_number_is_no_namespace(
    words: Words, runner: RecordingRunner, capfd: pytest.CaptureFixture[str]
) -> None:
    assert words("scale node --replicas 2 -n 10") == 2

    assert runner.calls == []
    said = capfd.readouterr().err
    assert "'--namespace' is '10', a number" in said
    assert "kwokctl scale node --replicas 10" in said


def test_a_number_is_no_namespace_where_one_object_is_the_default(
    words: Words, runner: RecordingRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KWOK_COMPAT", "kwokctl")

    assert words("scale node -n 10") == 1

    assert runner.calls == []


class Terminal(StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("streams", "more", "is_asked"),
    [
        ((Terminal, Terminal), "", True),
        ((Terminal, Terminal), " --yes", False),
        ((StringIO, Terminal), "", False),
        ((Terminal, StringIO), "", False),
    ],
)
def test_it_is_asked_where_a_person_can_answer(
    words: Words,
    runner: RecordingRunner,
    monkeypatch: pytest.MonkeyPatch,
    streams: tuple[Callable[[], Any], Callable[[], Any]],
    more: str,
    is_asked: bool,
) -> None:
    runner.answers["scale"] = ScaleResult(kind="Node", name="node", existing=20, deleted=18)
    for name, stream in zip(("stdin", "stderr"), streams, strict=True):
        monkeypatch.setattr(sys, name, stream())

    assert words(f"scale node --replicas 2{more}") == 0

    assert (requested(runner).confirm is not unasked) == is_asked


def test_what_was_declined_is_not_called_done(
    words: Words, runner: RecordingRunner, capfd: pytest.CaptureFixture[str]
) -> None:
    runner.answers["scale"] = ScaleResult(kind="Node", name="node", existing=20)

    assert words("scale node --replicas 2") == 0

    assert "'node' still has 20 nodes (nothing was changed)" in capfd.readouterr().err


def test_the_objects_are_looked_for_where_the_template_puts_them(
    words: Words, runner: RecordingRunner, capfd: pytest.CaptureFixture[str]
) -> None:
    runner.answers["scale"] = ScaleResult(
        kind="Deployment", name="web", namespace="team-a", created=2
    )

    assert words("scale web --replicas 2") == 0

    assert "kwokctl kubectl -n team-a get deployments" in capfd.readouterr().err
    assert requested(runner).namespace is None


@pytest.mark.parametrize(
    ("answer", "is_agreed"),
    [("y\n", True), ("yes\n", True), ("\n", False), ("n\n", False), ("", False)],
)
def test_only_yes_is_yes(monkeypatch: pytest.MonkeyPatch, answer: str, is_agreed: bool) -> None:
    asked = Terminal()
    monkeypatch.setattr(sys, "stdin", Terminal(answer))

    assert confirmation.confirmed(Plain(asked), "Delete all?") == is_agreed

    assert asked.getvalue() == "Delete all? [y/N]\n"


@pytest.mark.parametrize(("word", "selector"), [("all", ""), ("zone=a", "zone=a")])
def test_pods_may_be_spread_over_all_nodes(
    words: Words, runner: RecordingRunner, word: str, selector: str
) -> None:
    runner.answers["scale"] = ScaleResult(kind="Pod", name="web", created=1)

    assert words(f"scale pod web --replicas 3 --on-nodes {word}") == 0

    assert requested(runner).on_nodes == selector


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            ".topology.nodesPerRack = 0",
            "topology.nodesPerRack: must be a whole number of at least 1",
        ),
        (".topology.nodesPerRak = 4", "topology: there is no parameter 'nodesPerRak'"),
        ('.topology.zones = "a"', "topology.zones: must be a list"),
        ('.topology.vocabularies = ["gcp"]', "topology.vocabularies: there is no 'gcp'"),
        ('.labels = ["a"]', "--param: 'labels' must be a mapping"),
    ],
)
def test_a_wrong_parameter_of_a_shape_is_said_with_its_place(
    capfd: pytest.CaptureFixture[str], change: str, said: str
) -> None:
    code = run(["--dry-run", "scale", "dgx-h100", "--replicas", "4", "--param", change])

    assert code == (2 if said.startswith("--param") else 1)
    assert said in capfd.readouterr().err
