"""Workers of pytest-xdist have a fork each, and leave none, however the run ends."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from tests.support.installed import PATIENCE, Installed, processes_with, until

pytestmark = [pytest.mark.e2e, pytest.mark.components]
TESTS = """
import os
import threading
from pathlib import Path

SEEN, WORKER = Path(os.environ["SEEN"]), os.environ["PYTEST_XDIST_WORKER"]

def note(kwok, word):
    (SEEN / f"{word}-{WORKER}").write_text(kwok.name)

def wait(is_done):
    never, looks = threading.Event(), 0
    while not is_done():
        never.wait(0.05)
        looks += 1
        assert looks < 2000

def test_meets(kwok):
    kwok.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"of-{WORKER}"}})
    note(kwok, "met")
    wait(lambda: len([*SEEN.glob("met-*")]) == 2)
    assert [each["metadata"]["name"] for each in kwok.find("configmaps")] == [f"of-{WORKER}"]

def test_finds_nothing(kwok):
    assert kwok.find("configmaps") == []

def test_may_crash(kwok):
    if WORKER == "gw1":
        os._exit(1)

def test_waits(kwok):
    note(kwok, "waits")
    wait(lambda: False)
"""
"""Each of two workers runs them all."""
SETTINGS = """
[pytest]
asyncio_default_fixture_loop_scope = function
"""


@pytest.fixture(autouse=True)
def _interruptible() -> Iterator[None]:
    """Let runs begin as in a terminal: the background jobs of a shell ignore an interrupt."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "test_it.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text(SETTINGS)
    (tmp_path / "seen").mkdir()
    return tmp_path


def _start(project: Path, source: Installed, *words: str) -> "subprocess.Popen[str]":
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--kwok-from",
        "kwok",
    ]
    return subprocess.Popen(
        [*command, *words],
        cwd=project,
        env=source.environment | {"SEEN": str(project / "seen")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def _seen(project: Path) -> Mapping[str, str]:
    return {file.name: file.read_text() for file in (project / "seen").iterdir()}


def _left(source: Installed) -> Sequence[object]:
    """Return what the runs have left of their clusters: folders and processes."""
    folders = source.workdir / "clusters"
    names = [each.name for each in folders.iterdir() if each.name != source.name]
    return [*names, *processes_with(f"{folders}/pytest-")]


def test_workers_do_not_see_each_other_and_one_that_crashes_leaves_no_cluster(
    storage: Installed, project: Path
) -> None:
    words = ("-n", "2", "--max-worker-restart", "0", "--dist", "each", "-k", "not waits")
    with _start(project, storage, *words) as running:
        said, _ = running.communicate(timeout=PATIENCE)

    seen = _seen(project)
    workers = [name.rpartition("-")[2] for name in seen.values()]
    assert sorted(seen) == sorted(f"met-{worker}" for worker in workers), said
    assert len(workers) == 2
    assert "1 failed, 5 passed" in said
    assert "crashed while running 'test_it.py::test_may_crash'" in said
    assert _left(storage) == []


def test_a_run_that_is_interrupted_leaves_no_cluster(storage: Installed, project: Path) -> None:
    with _start(project, storage, "-n", "1", "-k", "waits") as running:
        until("the test has begun", lambda: "waits-gw0" in _seen(project))
        assert any("pytest-" in str(each) for each in _left(storage))

        os.killpg(running.pid, signal.SIGINT)
        said, _ = running.communicate(timeout=PATIENCE)

    assert running.returncode == pytest.ExitCode.INTERRUPTED, said
    assert _left(storage) == []
