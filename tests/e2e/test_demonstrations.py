"""The demonstrations of `examples/faults/demonstrations`, run small: what each shows is what happens."""

import csv
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.installed import Installed

pytestmark = [pytest.mark.components, pytest.mark.e2e, pytest.mark.timeout(900, func_only=True)]

EXAMPLE = Path(__file__).parents[2] / "examples/faults/demonstrations"


@pytest.fixture(scope="module")
def job_sets(installed: Installed) -> Installed:
    """Skip unless the program of the add-on is in the store."""
    answer = installed.run("artifacts", "pull", "--enable", "jobset", "--dry-run")
    if "All programs are there" not in answer.out:
        pytest.skip("the program of jobset is not in the store: 'make addons' builds it")
    return installed


class Shown(NamedTuple):
    """A demonstration that has come to its end."""

    out: str
    err: str
    """What its programs said."""
    page: str
    """The comparison; empty if this machine was too busy to record a run."""


def shown(installed: Installed, script: str, folder: Path, *words: str) -> Shown:
    """Run a demonstration to its end; nothing but a busy machine may keep it from a comparison."""
    done = subprocess.run(
        [sys.executable, EXAMPLE / script, *words, "--folder", folder],
        env=installed.environment, capture_output=True, text=True, timeout=800, check=False,
    )  # fmt: skip
    if done.returncode:
        assert re.search(r"invalid: the recorder was [\d.]+ s behind", done.stderr), done
    assert installed.ok("get", "clusters") == ""
    file = folder / "comparison.html"
    assert file.exists() is not bool(done.returncode)
    return Shown(done.stdout, done.stderr, "" if done.returncode else file.read_text("utf-8"))


def test_a_remediator_keeps_the_training_away_from_the_broken_node(
    job_sets: Installed, tmp_path: Path
) -> None:
    size = ("--workers", "2", "--spare", "1", "--stop-at", "40")

    out, err, page = shown(job_sets, "close_the_loop.py", tmp_path / "loop", *size)

    rows = re.findall(r"^(with|without) +(\w+) +(\d+) +(\d+)$", out, re.MULTILINE)
    found = {kind: (state, int(restarts), int(back)) for kind, state, restarts, back in rows}
    assert {state for state, _, _ in found.values()} == {"Completed"}
    # Its own machines are preferred, so without a remediator each new start comes back to the broken one.
    _, restarts, back = found["without"]
    assert restarts == back >= 3
    # A busy machine may be late by a start or two.
    assert found["with"][2] < back
    said = re.findall(r"^(cordoned|drained|uncordoned) (.+)$", err, re.MULTILINE)
    assert [what for what, _ in said] == ["cordoned", "drained", "uncordoned"]
    assert len({node for _, node in said}) == 1
    # The scorecard says so, too.
    scored = dict(re.findall(r"^incidents\.(\w+) +(\d+) +\d+ ", out, re.MULTILINE))
    assert not page or scored == {"bad_placements": str(back), "repeat_offenders": str(back)}
    assert not page or "gangs.jct.mean" in page


def test_both_ways_of_scheduling_have_the_same_storm_and_are_compared(
    job_sets: Installed, tmp_path: Path
) -> None:
    folder = tmp_path / "storm"
    size = (
        "--machines",
        "12",
        "--trainings",
        "3",
        "--broken",
        "17",
        "--runs",
        "1",
        "--seconds",
        "20",
    )

    out, _, page = shown(job_sets, "proactive.py", folder, *size)

    rows = re.findall(r"^1 +(reactive|proactive) +(\d+) +([\d.]+) % ", out, re.MULTILINE)
    assert {faults for _, faults, _ in rows} == {"2"}
    goodput = {kind: share for kind, _, share in rows}
    assert goodput.keys() == {"reactive", "proactive"}
    compared = re.findall(r"^training\.goodput +([\d.]+) % +([\d.]+) % ", out, re.MULTILINE)
    assert len(compared) == bool(page)
    for sides in compared:
        assert [*map(float, sides)] == pytest.approx([*map(float, goodput.values())], abs=0.1)
    assert starts(folder / "reactive/run-1.pods.csv")
    # The check of two seconds comes first.
    assert all(each > 1.9 for each in starts(folder / "proactive/run-1.pods.csv"))


def starts(file: Path) -> list[float]:
    """Return the seconds from the node to the start of the program, for each pod that has started."""
    with file.open(encoding="utf-8", newline="") as lines:
        pods = [*csv.DictReader(lines)]
    return [float(each["running"]) - float(each["bound"]) for each in pods if each["running"]]
