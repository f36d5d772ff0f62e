"""`create cluster --from` as its user sees it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from kwokctl.clusters.create import Created
from kwokctl.clusters.forking.fork import Forked
from kwokctl.config.data_path import Choice
from kwokctl.model import ClusterName
from tests.support.recording_runner import RecordingRunner

Words = Callable[[str], int]


def _fork(name: str) -> Forked:
    return Forked(
        name=ClusterName(name),
        source=ClusterName("kwok"),
        context=f"kwok-{name}",
        kubeconfig=Path("/home/me/.kube/config"),
        started=(),
    )


def _created(name: str) -> Created:
    return Created(
        name=ClusterName(name),
        context=f"kwok-{name}",
        kubeconfig=Path("/home/me/.kube/config"),
        server="https://127.0.0.1:6443",
        existed=False,
        drift=(),
        data_path=Choice(path="etcd", why=""),
        urls={},
    )


@pytest.mark.usefixtures("_kubectl_on_path")
def test_each_fork_has_a_number(
    words: Words,
    runner: RecordingRunner,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    runner.answers["fork_cluster"] = (_fork("a-1"), _fork("a-2"))

    assert words("create cluster --name a --from kwok --count 2") == 0

    assert capfd.readouterr().err.splitlines() == [
        "'a-1', 'a-2' are made from 'kwok'",
        "Now you can:",
        "  kubectl --context kwok-a-1 get nodes",
        "  kubectl --context kwok-a-2 get nodes",
    ]


def test_a_fork_may_run_elsewhere_than_its_source(words: Words, runner: RecordingRunner) -> None:
    runner.answers["fork_cluster"] = (_fork("a"),)

    assert words("create cluster --name a --from kwok --runtime podman --ignore-memory") == 0

    ((_, (_, request), _),) = runner.calls
    assert (request.place.runtime, request.ignores_memory) == ("podman", True)


def test_a_file_makes_as_many_as_requested(
    words: Words, runner: RecordingRunner, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "a.db"
    file.write_bytes(b"x")
    runner.answers["create_several"] = (_created("a-1"), _created("a-2"))

    assert words(f"create cluster --name a --from {file} --count 2 --ignore-memory") == 0

    ((_, (_, requests), said),) = runner.calls
    assert [(each.name, each.snapshot) for each in requests] == [("a-1", file), ("a-2", file)]
    assert said == {"ignores_memory": True}
    assert "'a-1', 'a-2' are made from" in capfd.readouterr().err


def test_a_dry_run_says_what_would_be_made(words: Words, capfd: pytest.CaptureFixture[str]) -> None:
    assert words("create cluster --name a --from kwok --runtime docker --dry-run") == 0

    said = capfd.readouterr().out
    assert "# Copy the cluster 'kwok' as it is now to 'a'" in said
    assert "start that on the runtime 'docker'" in said


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("create cluster --count 2", "'--from' is needed for a fork"),
        ("create cluster --new-pki", "'--from' is needed for a fork"),
        ("create cluster --from=", "'--from' is needed for a fork"),
        (
            "create cluster --from ./a --new-pki",
            "one from a file always has new authorities",
        ),
        (
            "create cluster --from a.db --ignore-memory",
            "the memory for one is not checked",
        ),
        ("create cluster --from pyproject.toml/../a.db --count 2", "there is no file"),
        ("create cluster --ignore-memory", "'--from' is needed for a fork"),
        ("create cluster --from none.db", "there is no file 'none.db'"),
        ("create cluster --from kwok --nodes 3", "the new cluster has the settings of 'kwok'"),
    ],
)
def test_what_does_not_go_together_is_refused(
    words: Words, capfd: pytest.CaptureFixture[str], text: str, error: str
) -> None:
    assert words(text) != 0

    assert error in capfd.readouterr().err
