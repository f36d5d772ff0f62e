"""The tests themselves, in lanes: see tests/support/lanes.py and tests/support/run_lanes.py."""

import re
import subprocess
import sys
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path

import pytest

from tests.support import lanes
from tests.support.run_lanes import announcement, of_engines, of_tests

TESTS = Path(__file__).parents[1]
OF_TEST = {**lanes.WITHOUT_COMPONENTS, **lanes.FIRST, **lanes.WITH_COMPONENTS}
LANES = {**OF_TEST, **lanes.IN_ENGINES, **lanes.BROWSER}
"""Those of both commands."""
OPTIONS = ("engine", "ignore", "ignore-glob")
WITH_HELM = "stories"
"""The lane of tests that need Helm, which is built with the components."""
NO_SNAPSHOTS = "-pno:inline_snapshot"
"""A word that selects no tests."""
SPREADING = ["--numprocesses=auto", "--maxprocesses=8"]
"""Beside other lanes, the unit tests run in one process."""
COLLECT = """
import sys
import pytest
from tests.support.lanes import engine_of

class Shown:
    def pytest_collection_finish(self, session):
        for item in session.items:
            print("test", engine_of(mark.name for mark in item.iter_markers()), item.nodeid)

sys.exit(pytest.main(["--collect-only", "-qq", "-p", "no:cacheprovider", "-pno:inline_snapshot", *sys.argv[1:]], [Shown()]))
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
    used = {name for found in in_lanes.values() for name in found}
    assert used == {*LANES} - {*lanes.WITHOUT_COMPONENTS} - {*lanes.BROWSER}


def test_each_file_of_the_other_suites_is_in_one_lane_and_needs_no_engine() -> None:
    suites = ("unit", "cli", "packaging", "browser")
    files = [file for suite in suites for file in (TESTS / suite).rglob("test_*.py")]
    in_lanes = {file: _lanes_of("none", str(file.relative_to(TESTS.parent))) for file in files}

    assert len(files) > 400
    assert {file for file, found in in_lanes.items() if len(found) != 1} == set()
    assert {name for [name] in in_lanes.values()} == {
        *lanes.WITHOUT_COMPONENTS,
        *lanes.BROWSER,
        WITH_HELM,
    }
    engines = re.compile(rf"\bmark\.({'|'.join(lanes.ENGINES)})\b")
    assert [file for file in files if engines.search(file.read_text(encoding="utf-8"))] == []


def test_there_are_no_other_suites() -> None:
    suites = {file.relative_to(TESTS).parts[0] for file in TESTS.rglob("test_*.py")}

    assert suites == {"unit", "cli", "packaging", "contract", "e2e", "first_day", "browser"}


def test_the_command_for_unit_tests_selects_what_their_lane_does() -> None:
    said = subprocess.run(
        ["make", "--no-print-directory", "--dry-run", "unit", "T="],
        cwd=TESTS.parent, capture_output=True, text=True, check=True,
    )  # fmt: skip

    words = [*lanes.WITHOUT_COMPONENTS["unit"], *SPREADING]
    assert said.stdout.split()[-len(words) :] == words


def test_lanes_that_need_no_components_begin_beside_those_that_get_them() -> None:
    order = of_tests(["-k", "pods"])

    assert [*order.beside] == ["check", *lanes.WITHOUT_COMPONENTS]
    assert [[*each] for each in order.rounds] == [
        ["clone"], ["components"], [*lanes.WITH_COMPONENTS],
    ]  # fmt: skip
    assert order.rounds[-1]["lives"][-2:] == ["-k", "pods"]


def test_the_announcement_says_what_is_built_and_how_long_everything_takes() -> None:
    warm = announcement("test", of_tests([]), [], 2)
    cold = announcement("test", of_tests([]), ["etcd", "kubectl"], 2)

    assert "the lanes are: check, unit, packaging, clone, components, rounds, first day" in warm
    assert "store" not in warm
    assert "your store lacks etcd, kubectl" in cold
    assert "the lanes that need none begin at once: check, unit, packaging" in cold
    # A quarter of an hour for the components.
    assert _minutes(warm) + 14 <= _minutes(cold)
    assert _minutes(announcement("test", of_tests([]), [], 64)) < _minutes(warm)


def _minutes(said: str) -> int:
    return int(re.findall(r"about (\d+) minutes with", said)[0])


def test_lanes_whose_engine_is_absent_do_not_run() -> None:
    absent = {"docker": "no engine", "kind": "no engine", "kind life": "no engine"}

    order = of_engines([], absent, [])

    assert [[*each] for each in order.rounds] == [["components"], ["podman"]]
    assert ([*order.beside], order.absent) == (["browser"], absent)


def test_without_any_engine_no_components_are_built() -> None:
    assert of_engines([], dict.fromkeys(lanes.IN_ENGINES, "no engine"), []).rounds == []


def test_tests_of_shells_run_where_these_have_just_been_installed() -> None:
    assert [*of_engines([], {}, ["podman", "fish"]).beside] == ["browser", "shells"]


def _lanes_of(engine: str, test: str) -> list[str]:
    """Return the lanes whose words select a test, as pytest understands them."""
    file = test.partition("::")[0]
    return [name for name, words in LANES.items() if _select(words, engine, file)]


def _select(words: Sequence[str], engine: str, file: str) -> bool:
    of = {key: [w.partition("=")[2] for w in words if w.startswith(f"--{key}=")] for key in OPTIONS}
    paths = [word for word in words if not word.startswith("-")]
    path = str(TESTS.parent / file)
    return (
        any(file == each or file.startswith(f"{each}/") for each in paths)
        and engine in (of["engine"] or [engine])
        and path not in {str(TESTS.parent / each) for each in of["ignore"]}
        and not any(fnmatch(path, each) for each in of["ignore-glob"])
    )


def test_the_words_of_lanes_are_known_here() -> None:
    options = {word for words in LANES.values() for word in words if word.startswith("-")}

    known = {*OPTIONS, NO_SNAPSHOTS}
    assert {word.partition("=")[0].removeprefix("--") for word in options} == known


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
