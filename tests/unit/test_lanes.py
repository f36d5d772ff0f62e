"""The tests themselves, side by side: see tests/support/lanes.py."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from fnmatch import fnmatch
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
    options = ("-p", "no:cacheprovider", "-ra", "--rootdir", str(folder))
    return [sys.executable, "-m", "pytest", *options, str(file)]


@pytest.fixture
def _few_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let these pytests load their own plugins only: loading ours takes longer than the tests."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


COLLECT = """
import sys
import pytest
from tests.support.lanes import engine_of

class Shown:
    def pytest_collection_finish(self, session):
        for item in session.items:
            print("test", engine_of(mark.name for mark in item.iter_markers()), item.nodeid)

sys.exit(pytest.main(["--collect-only", "-qq", "-p", "no:cacheprovider", *sys.argv[1:]], [Shown()]))
"""
"""Shows the tests of some folders, each with its engine."""


def test_each_test_is_in_one_lane() -> None:
    folders = ("tests/contract", "tests/e2e", "tests/first_day")
    done = subprocess.run(
        [sys.executable, "-c", COLLECT, *folders],
        cwd=TESTS.parent, capture_output=True, text=True, check=True,
    )  # fmt: skip
    lines = [line for line in done.stdout.splitlines() if line.startswith("test ")]
    in_lanes = {line: _lanes_of(*line.split(maxsplit=2)[1:]) for line in lines}

    assert len(lines) > 500
    assert {line: found for line, found in in_lanes.items() if len(found) != 1} == {}
    assert {name for found in in_lanes.values() for name in found} == {*LANES} - {"python"}


def _lanes_of(engine: str, test: str) -> list[str]:
    """Return the lanes whose words select a test, as pytest understands them."""
    file = test.partition("::")[0]
    return [name for name, words in LANES.items() if _select(words, engine, file)]


def _select(words: Sequence[str], engine: str, file: str) -> bool:
    of = {key: [w.partition("=")[2] for w in words if w.startswith(f"--{key}=")] for key in OPTIONS}
    paths = [word for word in words if not word.startswith("--")]
    path = str(TESTS.parent / file)
    return (
        any(file == each or file.startswith(f"{each}/") for each in paths)
        and engine in (of["engine"] or [engine])
        and path not in {str(TESTS.parent / each) for each in of["ignore"]}
        and not any(fnmatch(path, each) for each in of["ignore-glob"])
    )


LANES = {**lanes.FIRST, **lanes.LANES}
OPTIONS = ("engine", "ignore", "ignore-glob")


def test_the_words_of_lanes_are_known_here() -> None:
    options = {word for words in LANES.values() for word in words if word.startswith("-")}

    assert {word.partition("=")[0].removeprefix("--") for word in options} == {*OPTIONS}


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


@pytest.mark.usefixtures("_few_plugins")
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


def test_a_lane_that_fails_without_tests_is_in_the_summary(
    capsys: pytest.CaptureFixture[str],
) -> None:
    check = lanes.Run("check", ["sh", "-c", "echo 'page.md is old'; exit 2"])

    report = check.follow()

    assert (report.code, report.summary) == (2, ["FAILED the lane 'check': exit code 2"])
    assert "check     | page.md is old" in capsys.readouterr().out


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


@pytest.mark.usefixtures("_few_plugins")
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


@pytest.mark.usefixtures("_few_plugins")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_one_pytest_that_is_ended_deletes_what_its_tests_have_made(
    tmp_path: Path, number: int
) -> None:
    deleted = tmp_path / "deleted"
    # Where these tests themselves run below nohup, or behind a shell, signals are ignored that a terminal sends.
    (tmp_path / "conftest.py").write_text(
        "import signal\n"
        "from tests.support.interrupting import end_as_by_ctrl_c\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "for number in (signal.SIGTERM, signal.SIGHUP): signal.signal(number, signal.SIG_DFL)\n"
        "def pytest_configure(): end_as_by_ctrl_c()\n"
    )
    FILES["slow"] = SLOW.format(deleted=str(deleted))
    running = subprocess.Popen(
        pytest_for(tmp_path, "slow"), cwd=TESTS.parent, stdout=subprocess.PIPE, text=True
    )
    assert running.stdout is not None
    assert next(line for line in running.stdout if "begun" in line)

    running.send_signal(number)

    assert running.wait(60) == 2
    running.stdout.close()
    assert deleted.exists()


def run_shells(*rounds: Mapping[str, str]) -> subprocess.Popen[str]:
    """Run a shell for each lane, one round after the other."""
    commands = [{name: ["sh", "-c", line] for name, line in lines.items()} for lines in rounds]
    script = f"import sys; from tests.support.lanes import run; sys.exit(run(*{commands!r}))"
    return subprocess.Popen(
        [sys.executable, "-c", script], cwd=TESTS.parent, stdout=subprocess.PIPE, text=True
    )


def test_lanes_wait_while_many_others_run(tmp_path: Path) -> None:
    # Those end when as many as may run at a time have begun.
    one = f"cd {tmp_path}; touch $$; until [ $(ls | wc -l) = {lanes.AT_ONCE} ]; do sleep 0.1; done"
    names = [f"lane {number}" for number in range(lanes.AT_ONCE)]

    running = run_shells({**dict.fromkeys(names, one), "last": "echo begun"})
    shown, _ = running.communicate(timeout=60)

    assert running.returncode == 0
    assert shown.count("ended with exit code 0") == lanes.AT_ONCE + 1
    assert "ended with exit code 0" in shown.partition("begun")[0]


def test_a_round_begins_when_the_former_has_ended_whatever_became_of_it() -> None:
    running = run_shells({"one": "echo first; exit 3"}, {"two": "echo second"})
    shown, _ = running.communicate(timeout=60)

    assert running.returncode == 3
    assert "ended with exit code 3" in shown.partition("second")[0]
    assert "(2 lanes)" in shown


def test_an_interrupted_run_does_not_begin_lanes_that_wait() -> None:
    names = [f"lane {number}" for number in range(lanes.AT_ONCE)]
    running = run_shells(
        {**dict.fromkeys(names, "echo begun; exec sleep 60"), "last": "echo begun"}
    )
    assert running.stdout is not None
    for _ in names:
        assert next(line for line in running.stdout if "begun" in line)

    running.send_signal(signal.SIGINT)
    shown, _ = running.communicate(timeout=60)

    assert running.returncode == 2
    assert "FAILED the lane 'last': interrupted before it began" in shown
