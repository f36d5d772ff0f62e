"""The command as a user sees it: a process of its own, or its words with verbs that are recorded."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kwokctl.cli.main import run
from tests.support import preloaded
from tests.support.recording_runner import RecordingRunner

Kwokctl = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """An environment in which everything of the user's is empty."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "COLUMNS": "80",
        "KWOK_WORKDIR": str(tmp_path / "kwok"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "TMPDIR": os.environ["TMPDIR"],
    }


@pytest.fixture
def kwokctl(environ: dict[str, str], tmp_path: Path) -> Kwokctl:
    """Run the command as a process."""

    def call(*words: str, umask: int = -1, **more: str) -> subprocess.CompletedProcess[str]:
        environment = preloaded.read_at_start(os.environ) | environ | more
        if umask == -1 and preloaded.serves(environment):
            return preloaded.run(
                words, environment=environment, stdin="", timeout=60, folder=tmp_path
            )
        root = str(Path(__file__).parents[2])
        return subprocess.run(
            [sys.executable, "-m", "kwokctl", *words],
            env=environment | {"PYTHONPATH": root},
            cwd=tmp_path,
            umask=umask,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    return call


@pytest.fixture
def in_process(
    environ: dict[str, str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> Kwokctl:
    """Run the command in this process, as `kwokctl` does in one of its own, without that start.

    For what words mean; what a process has of its own, such as streams and permissions, needs one.
    """

    def call(*words: str, **more: str) -> subprocess.CompletedProcess[str]:
        with pytest.MonkeyPatch.context() as own:
            for name in os.environ:
                own.delenv(name)
            for name, value in (environ | more).items():
                own.setenv(name, value)
            own.chdir(tmp_path)
            capfd.readouterr()
            code = run(words)
            out, err = capfd.readouterr()
        return subprocess.CompletedProcess(words, code, out, err)

    return call


@pytest.fixture
def runner(environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> RecordingRunner:
    """What the verbs are given to instead of being run."""
    for name in ("KWOK_WORKDIR", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.setenv(name, environ[name])
    monkeypatch.delenv("KUBECONFIG", raising=False)
    return RecordingRunner()


@pytest.fixture
def _kubectl_on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "bin" / "kubectl"
    program.parent.mkdir()
    program.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(program.parent))


@pytest.fixture
def words(runner: RecordingRunner) -> Callable[[str], int]:
    """Run the words of a command in this process, with recorded verbs; return the exit code."""

    def call(text: str) -> int:
        return run(text.split(), runner)

    return call


def need_shell(name: str) -> None:
    """Skip the test where a shell is not installed."""
    if not shutil.which(name):
        pytest.skip(f"'{name}' is not installed")
