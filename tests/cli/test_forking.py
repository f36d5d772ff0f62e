"""`create cluster --from` as its user sees it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from kwokctl.clusters.forking.fork import Forked
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


def test_each_fork_has_a_number(
    words: Words, runner: RecordingRunner, capfd: pytest.CaptureFixture[str]
) -> None:
    runner.answers["fork_cluster"] = (_fork("a-1"), _fork("a-2"))

    assert words("create cluster --name a --from kwok --count 2") == 0

    assert capfd.readouterr().err.splitlines() == [
        "'a-1', 'a-2' are made from 'kwok'. Now you can:",
        "  kubectl --context kwok-a-1 get nodes",
    ]


def test_a_dry_run_says_what_would_be_made(words: Words, capfd: pytest.CaptureFixture[str]) -> None:
    assert words("create cluster --name a --from kwok --dry-run") == 0

    assert "# Copy the cluster 'kwok' as it is now to 'a'" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("create cluster --count 2", "'--from' is needed for a fork"),
        ("create cluster --new-pki", "'--from' is needed for a fork"),
        ("create cluster --from=", "'--from' is needed for a fork"),
        (
            "create cluster --from a.db --count 2",
            "'--count' and '--new-pki' are for '--from' with a",
        ),
        (
            "create cluster --from ./a --new-pki",
            "'--count' and '--new-pki' are for '--from' with a",
        ),
        ("create cluster --from none.db", "there is no file 'none.db'"),
        ("create cluster --from kwok --nodes 3", "the new cluster has the settings of 'kwok'"),
    ],
)
def test_what_does_not_go_together_is_refused(
    words: Words, capfd: pytest.CaptureFixture[str], text: str, error: str
) -> None:
    assert words(text) != 0

    assert error in capfd.readouterr().err
