"""Commands of lanes, shown as one: see tests/support/side_by_side.py."""

import itertools
import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.support import side_by_side
from tests.support.processor_time import counted

ROOT = Path(__file__).parents[2]
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


@pytest.mark.parametrize(
    ("codes", "code"), [([0, 0], 0), ([0, 5], 0), ([5, 5], 5), ([1, 0, 5], 1), ([0, -9], 9)]
)
def test_the_exit_code_is_the_worst_of_all_lanes(codes: list[int], code: int) -> None:
    assert side_by_side.exit_code(codes) == code


@pytest.mark.usefixtures("_few_plugins")
def test_lanes_are_shown_as_one_run_that_ends_with_its_summary(tmp_path: Path) -> None:
    names = ("pass", "skip", "fail", "none", "broken")
    script = (
        "import sys; from tests.support.side_by_side import run;"
        f"sys.exit(run({ {name: pytest_for(tmp_path, name) for name in names}!r}))"
    )
    # Where CI is set, pytest writes several lines of a failure into its summary.
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT, env={name: text for name, text in os.environ.items() if name != "CI"},
        capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip

    assert done.returncode == 2
    shown, _, summary = done.stdout.partition("= short test summary info =")
    assert re.search(r"^pass      \| \S*test_pass\.py \.", shown, re.MULTILINE)
    assert "'tests/e2e/x.py' == '== 1 passed in 2s =='" in shown
    lines = summary.splitlines()
    words = [line.split()[0] for line in itertools.takewhile(is_no_heading, lines[1:])]
    assert words == ["SKIPPED", "FAILED", "ERROR", "!" * len(words[-1])]
    assert "no engine" in summary
    assert "cannot be read" in shown
    assert "2 passed, 1 skipped, 1 failed, 1 error in " in lines[-1]
    assert "(5 lanes)" in lines[-1]


def is_no_heading(line: str) -> bool:
    return not line.startswith("=")


def test_a_lane_that_fails_without_tests_is_in_the_summary(
    capsys: pytest.CaptureFixture[str],
) -> None:
    check = side_by_side.Run("check", ["sh", "-c", "echo 'page.md is old'; exit 2"])

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
        "import sys; from tests.support.side_by_side import run;"
        f"sys.exit(run({ {'slow': pytest_for(tmp_path, 'slow')}!r}))"
    )
    running = subprocess.Popen(
        [sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE, text=True
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
        pytest_for(tmp_path, "slow"), cwd=ROOT, stdout=subprocess.PIPE, text=True
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
    script = f"import sys; from tests.support.side_by_side import run; sys.exit(run(*{commands!r}))"
    return subprocess.Popen(
        [sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )


def test_lanes_wait_while_many_others_run(tmp_path: Path) -> None:
    # Those end when as many as may run at a time have begun.
    one = f"cd {tmp_path}; touch $$; until [ $(ls | wc -l) = {side_by_side.PARALLEL_LANES} ]; do sleep 0.1; done"
    names = [f"lane {number}" for number in range(side_by_side.PARALLEL_LANES)]

    running = run_shells({**dict.fromkeys(names, one), "last": "echo begun"})
    shown, _ = running.communicate(timeout=60)

    assert running.returncode == 0
    assert shown.count("ended with exit code 0") == side_by_side.PARALLEL_LANES + 1
    assert "ended with exit code 0" in shown.partition("begun")[0]


def test_a_round_begins_when_the_former_has_ended_whatever_became_of_it() -> None:
    running = run_shells({"one": "echo first; exit 3"}, {"two": "echo second"})
    shown, _ = running.communicate(timeout=60)

    assert running.returncode == 3
    assert "ended with exit code 3" in shown.partition("second")[0]
    assert "(2 lanes)" in shown


def test_an_interrupted_run_does_not_begin_lanes_that_wait() -> None:
    names = [f"lane {number}" for number in range(side_by_side.PARALLEL_LANES)]
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


SPINNING = "import time\nwhile time.process_time() < 0.6: pass"


def test_the_end_says_how_much_processor_time_each_lane_has_taken() -> None:
    running = run_shells({"idle": "true"}, {"busy": f"{sys.executable} -S -c '{SPINNING}'; true"})
    shown, _ = running.communicate(timeout=60)

    times = re.findall(r"^(\S+) +\| +(\d+) s$", shown, re.MULTILINE)
    taken = {name: int(seconds) for name, seconds in times}
    assert {"idle", "busy", "all"} <= {*taken}
    assert taken["idle"] == 0 < taken["busy"] <= taken["all"]


def test_without_control_groups_what_was_waited_for_counts(tmp_path: Path) -> None:
    with counted(tmp_path) as groups:
        assert groups is None

    lane = side_by_side.Run("busy", ["sh", "-c", f"{sys.executable} -S -c '{SPINNING}'; true"])
    assert lane.follow().seconds > 0.5


def test_lanes_beside_the_rounds_begin_at_once_and_no_round_waits_for_them(tmp_path: Path) -> None:
    # It ends when the last round has begun, which begins while it runs.
    beside = {"beside": ["sh", "-c", f"until [ -e {tmp_path}/begun ]; do sleep 0.1; done"]}
    rounds = [{"one": ["true"]}, {"two": ["touch", f"{tmp_path}/begun"]}]
    script = (
        "import sys; from tests.support.side_by_side import run;"
        f"sys.exit(run(*{rounds!r}, beside={beside!r}, absent={ {'three': 'no engine'}!r}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip

    assert done.returncode == 0
    assert "(3 lanes)" in done.stdout
    assert "SKIPPED the lane 'three': no engine" in done.stdout
