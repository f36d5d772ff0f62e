"""The command that most tests run, forked from a Python that has loaded it, does what its script does."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support import preloaded
from tests.support.installed import command, processes_with, until

pytestmark = pytest.mark.e2e

WRONG = "kind: KwokctlConfiguration\noptions: {wrong: true}\n---\n" + "# nothing\n" * 100_000
"""More than a pipe holds."""
STAGE = """\
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: of-the-folder}
spec: {resourceRef: {apiGroup: v1, kind: Pod}, next: {}}
"""
CALLS = [
    ("--version",),
    ("--help",),
    ("nonsense",),
    ("get", "clusters"),
    ("get", "components"),
    ("get", "artifacts"),
    ("scale", "node", "--help"),
    ("scale", "node", "--replicas", "many"),
    ("fault", "list"),
    ("snapshot", "list"),
    ("config", "view"),
    ("kubectl", "get", "nodes"),
    ("create", "cluster", "--kube-apiserver-port", "none"),
    ("config", "convert", "stage.yaml"),
    ("--config", "-", "plan", "--nodes", "10"),
]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    own = {
        "KWOK_WORKDIR": str(tmp_path / "of-the-test"),
        "KUBECONFIG": str(tmp_path / "kubeconfig"),
    }
    return {**os.environ, **own}


@pytest.mark.parametrize("words", CALLS, ids=" ".join)
def test_streams_and_exit_code_are_the_same(
    environment: dict[str, str],
    words: Sequence[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "stage.yaml").write_text(STAGE)
    monkeypatch.chdir(tmp_path)

    forked = preloaded.run(words, environment=environment, stdin=WRONG, timeout=60)

    done = subprocess.run(
        [*command(), *words],
        env=environment, input=WRONG, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert forked.returncode == done.returncode
    assert (forked.stdout, forked.stderr) == (done.stdout, done.stderr)
    assert done.stdout or done.stderr or words == ("get", "clusters")


def test_what_takes_too_long_is_ended(environment: dict[str, str]) -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        preloaded.run(("get", "clusters"), environment=environment, stdin="", timeout=0.0005)


def test_what_is_forked_from_ends_with_who_has_started_it(environment: dict[str, str]) -> None:
    code = """
import os, sys
from tests.support import preloaded
preloaded.run(("--version",), environment=os.environ, stdin="", timeout=60)
print(preloaded.server(frozenset(preloaded.read_at_start(os.environ).items())), flush=True)
sys.stdin.read()
"""
    words = [sys.executable, "-c", code]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, env=environment, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert len(processes_with(address)) == 1
        process.send_signal(signal.SIGKILL)

    until("it has ended", lambda: not processes_with(address))
    assert not Path(address).exists()


def test_a_python_that_would_start_otherwise_is_not_forked(environment: dict[str, str]) -> None:
    assert preloaded.serves(environment)
    assert not preloaded.serves({**environment, "PYTHONPATH": "/elsewhere"})
