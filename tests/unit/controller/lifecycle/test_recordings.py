"""The function, compared with what a real kubelet has made of the same pods.

A recording holds what was seen of a pod in several runs, but for what `artefacts.yaml` lists. A kubelet writes together what happens within
moments of each other, differently in each run; so a change of the function's is permitted if it was seen,
or if it is several in a row that were seen.
"""

from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

from kwokctl.controller.lifecycle.pod_events import PodEvent
from tests.support.kubelet_recordings.artefacts import artefacts
from tests.support.kubelet_recordings.cases import Case, cases
from tests.support.kubelet_recordings.playing import PlayedCase

_IN_A_ROW = 3
"""Changes that may be written together."""
_NEW = ("Pending", "")
"""What the API server makes of a pod: its kubelet has written nothing, and a watch may come too late."""

every_case = pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)


@cache
def recorded(file: Path) -> Any:
    return yaml.safe_load(file.read_text())


@every_case
def test_what_is_seen_of_a_pod_was_seen_on_a_kubelet(case: Case) -> None:
    recording = recorded(case.recording)
    views = [_NEW, *(tuple(each) for each in recording["views"])]
    strange = [view for view in PlayedCase(case).views if view not in views]

    assert not strange


@every_case
def test_no_change_of_a_pod_is_one_that_no_kubelet_makes(case: Case) -> None:
    recording = recorded(case.recording)
    known = {tuple(view): number for number, view in enumerate(recording["views"])}
    path = [known[view] for view in PlayedCase(case).views if view in known]
    followers = _followers(recording["runs"])

    assert [step for step in pairwise(path) if step[1] not in followers[step[0]]] == []


@every_case
def test_a_pod_that_comes_to_an_end_has_the_one_that_a_kubelet_gives_it(case: Case) -> None:
    recording = recorded(case.recording)
    ends = {recording["views"][run[-1]][0].partition(" ")[0] for run in recording["runs"]}
    end = PlayedCase(case).views[-1][0].partition(" ")[0]

    assert end in ends


@every_case
def test_the_events_of_a_pod_are_those_that_a_kubelet_reports(case: Case) -> None:
    mine = {_line(each) for each in PlayedCase(case).events}

    assert mine <= {*recorded(case.recording)["events"]}


@every_case
def test_each_event_that_a_kubelet_reports_of_a_pod_is_reported(case: Case) -> None:
    mine = {_line(each) for each in PlayedCase(case).events}
    missing = {*recorded(case.recording)["events"]} - mine

    assert missing == artefacts().events.get(case.name, set())


def _line(event: PodEvent) -> str:
    return " ".join(word for word in (event.type, event.reason, event.field) if word)


def _followers(runs: list[list[int]]) -> dict[int, set[int]]:
    found: dict[int, set[int]] = {}
    for run in runs:
        for at, view in enumerate(run):
            found.setdefault(view, set()).update(run[at + 1 : at + 1 + _IN_A_ROW])
    return found
