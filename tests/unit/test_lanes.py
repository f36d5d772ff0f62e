"""The tests themselves, side by side: see tests/support/lanes.py."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support import lanes

TESTS = Path(__file__).parents[1]
FILES = {
    "pass": "def test_one(): pass\ndef test_two(): pass\n",
    "skip": "import pytest\n@pytest.mark.skip(reason='no engine')\ndef test_it(): pass\n",
    "fail": "def test_it(): assert 'tests/e2e/x.py' == '== 1 passed in 2s =='\n",
    "none": "",
    "broken": "raise ValueError('cannot be read')\n",
}
"""Tests of lanes of their own."""


def pytest_for(folder: Path, name: str) -> Sequence[str]:
    file = folder / f"test_{name}.py"
    file.write_text(FILES[name])
    loops = "asyncio_default_fixture_loop_scope=function"
    options = ("-p", "no:cacheprovider", "-ra", "--rootdir", str(folder), "-o", loops)
    return [sys.executable, "-m", "pytest", *options, str(file)]


def test_each_test_is_in_one_lane() -> None:
    each = [_collected(words) for words in lanes.LANES.values()]
    together = [test for tests in each for test in tests]

    assert len(together) == len(set(together))
    assert set(together) == _collected(["tests"])


def _collected(words: Sequence[str]) -> set[str]:
    """Return the tests of the folders with programs that these words select."""
    chosen = [word for word in words if word not in {"tests/unit", "tests/cli", "tests/packaging"}]
    if not any("tests" in word for word in chosen):
        return set()
    command = [sys.executable, "-m", "pytest", "--collect-only", "-qq", "-p", "no:cacheprovider"]
    ignored = ("--ignore=tests/unit", "--ignore=tests/cli", "--ignore=tests/packaging")
    done = subprocess.run(
        [*command, *ignored, *chosen], cwd=TESTS.parent, capture_output=True, text=True, check=True
    )
    return {line for line in done.stdout.splitlines() if "::" in line}


@pytest.mark.parametrize(
    ("marks", "engine"),
    [
        (["e2e", "components"], "none"),
        (["docker"], "docker"),
        (["kind", "e2e"], "kind"),
        (["docker", "kind"], "kind"),
        (["kind", "podman"], "podman"),
        (["podman"], "podman"),
    ],
)
def test_the_engine_of_a_test_follows_from_its_marks(marks: list[str], engine: str) -> None:
    assert lanes.engine_of(marks) == engine


@pytest.mark.parametrize(
    ("codes", "code"), [([0, 0], 0), ([0, 5], 0), ([5, 5], 5), ([1, 0, 5], 1), ([0, -9], 9)]
)
def test_the_exit_code_is_the_worst_of_all_lanes(codes: list[int], code: int) -> None:
    assert lanes.exit_code(codes) == code


def test_lanes_are_shown_as_one_run_that_ends_with_its_summary(tmp_path: Path) -> None:
    names = ("pass", "skip", "fail", "none", "broken")
    script = (
        "import sys; from tests.support.lanes import run;"
        f"sys.exit(run({ {name: pytest_for(tmp_path, name) for name in names}!r}))"
    )
    # Where CI is set, pytest writes several lines of a failure into its summary.
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=TESTS.parent, env={name: text for name, text in os.environ.items() if name != "CI"},
        capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip

    assert done.returncode == 2
    shown, _, summary = done.stdout.partition("= short test summary info =")
    assert re.search(r"^pass      \| \S*test_pass\.py \.", shown, re.MULTILINE)
    assert "'tests/e2e/x.py' == '== 1 passed in 2s =='" in shown
    lines = summary.splitlines()
    words = [line.split()[0] for line in lines[1:-1]]
    assert words == ["SKIPPED", "FAILED", "ERROR", "!" * len(words[-1])]
    assert "no engine" in summary
    assert "cannot be read" in shown
    assert "2 passed, 1 skipped, 1 failed, 1 error in " in lines[-1]
    assert "(5 lanes)" in lines[-1]


SLOW = """
import time
import pytest

@pytest.fixture
def made():
    print('made', flush=True)
    yield
    open({deleted!r}, 'w').close()

def test_it(made, capsys):
    with capsys.disabled():
        print('begun', flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_deletes_what_its_tests_have_made(tmp_path: Path, number: int) -> None:
    deleted = tmp_path / "deleted"
    FILES["slow"] = SLOW.format(deleted=str(deleted))
    script = (
        "import sys; from tests.support.lanes import run;"
        f"sys.exit(run({ {'slow': pytest_for(tmp_path, 'slow')}!r}))"
    )
    running = subprocess.Popen(
        [sys.executable, "-c", script], cwd=TESTS.parent, stdout=subprocess.PIPE, text=True
    )
    assert running.stdout is not None
    assert next(line for line in running.stdout if "begun" in line)

    running.send_signal(number)

    assert running.wait(60) == 2
    assert "KeyboardInterrupt" in running.stdout.read()
    running.stdout.close()
    assert deleted.exists()
