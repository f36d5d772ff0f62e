"""Until when a rewind waits for the controller."""

import asyncio
from collections.abc import Iterator
from typing import cast

import pytest

from kwokctl.clusters.time_travel import controller_view
from kwokctl.clusters.time_travel.controller_view import ControllerView
from kwokctl.clusters.time_travel.scope import RewindScope
from kwokctl.dataplane.scale_protocol import ControllerClient, Seen
from kwokctl.errors import ApiError
from kwokctl.etcd.marks.mark_difference import Write

FAULTY = b"k8s\x00 kwokctl.dev/open-faults"
NODE = Write(b"/registry/minions/n", b"k8s\x00", 5, FAULTY)
FAULT = Write(b"/registry/kwokctl.dev/faults/f", None, 4, b"{}")
POD = Write(b"/registry/pods/default/p", b"k8s\x00", 6)


class Answers:
    """A controller that answers with one of these after the other."""

    def __init__(self, *answers: Seen | Exception) -> None:
        self.answers: Iterator[Seen | Exception] = iter(answers)
        self.asked = 0

    async def seen(self) -> Seen:
        self.asked += 1
        found = next(self.answers)
        if isinstance(found, Exception):
            raise found
        return found


def wait(answers: Answers, *written: tuple[Write, int], times: int = 1) -> None:
    async def run() -> None:
        view = ControllerView(cast("ControllerClient", answers), RewindScope("/registry"))
        for _ in range(times):
            view.note(written)
            await view.wait_seen()

    asyncio.run(run())


def test_it_waits_until_the_last_write_of_each_has_been_seen() -> None:
    answers = Answers(Seen(8, 0, 7), Seen(8, 0, 9), Seen(9, 0, 9), Seen(99, 99, 99))
    wait(answers, (FAULT, 8), (FAULT, 9), (NODE, 9))
    assert answers.asked == 3


def test_what_decides_nothing_about_pods_is_not_waited_for() -> None:
    healthy = Write(b"/registry/minions/n", b"k8s\x00a", 5, b"k8s\x00b")
    answers = Answers()
    wait(answers, (POD, 9), (healthy, 10))
    assert answers.asked == 0


def test_a_node_that_is_to_show_faults_is_waited_for() -> None:
    answers = Answers(Seen(8, 0), Seen(9, 0))
    wait(answers, (Write(b"/registry/minions/n", FAULTY, 5, b"k8s\x00"), 9))
    assert answers.asked == 2


def test_a_controller_that_says_nothing_of_faults_has_seen_none() -> None:
    answers = Answers(Seen(0, 0, None))
    wait(answers, (FAULT, 9))
    assert answers.asked == 1


def test_one_that_does_not_answer_is_asked_once() -> None:
    answers = Answers(ApiError("it does not run", status=503))
    wait(answers, (NODE, 9), times=2)
    assert answers.asked == 1


def test_the_wait_ends_without_news(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(controller_view, "_PATIENCE", 0.05)
    answers = Answers(*[Seen(8, 0)] * 1000)
    wait(answers, (NODE, 9), times=2)
    assert 1 < answers.asked < 1000
