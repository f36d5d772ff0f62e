"""What was recorded is done again, each object's changes in their order and in their time."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

from kwokctl.cli.verbs.time_travel.replay_keys import press
from kwokctl.clusters.object_files.recording.actions import (
    ActionResource,
    ActionTarget,
    Method,
    RecordedAction,
    ReplayAction,
)
from kwokctl.clusters.object_files.recording.player import RecordingPlayer, ReplayCounts
from kwokctl.clusters.object_files.recording.replay_clock import ReplayClock
from kwokctl.clusters.object_files.restoring.sent_objects import NewUids
from kwokctl.kube.resource import PODS
from kwokctl.kube.served_kinds import ServedKind
from kwokctl.progress import Silent
from tests.support.object_server import ObjectServer, object_server
from tests.support.virtual_time import run as run_virtually

KIND = ServedKind(resource=PODS, names=frozenset(), verbs=frozenset(), has_status=True)
PATH = "/api/v1/namespaces/default/pods"
OLD = "00000000-0000-4000-8000-000000000001"


def _action(method: Method, name: str = "a", **template: Any) -> ReplayAction:
    action = RecordedAction(
        resource=ActionResource("v1", "pods"),
        target=ActionTarget(name, "default"),
        duration_nanosecond=0,
        method=method,
        template=template or None,
    )
    return ReplayAction(line=7, action=action, kind=KIND)


async def _play(*actions: ReplayAction) -> tuple[ObjectServer, ReplayCounts]:
    async with object_server() as (server, client):
        clock = ReplayClock(1.0, asyncio.get_running_loop().time)
        player = RecordingPlayer(client, NewUids(), clock, Silent())
        await player.play(actions)
    return server, player.counts


def _create(name: str = "a", **more: Any) -> ReplayAction:
    metadata = {"name": name, "namespace": "default", **more}
    return _action(
        Method.CREATE, name, apiVersion="v1", kind="Pod", metadata=metadata, spec={"x": 1}
    )


async def test_a_pod_is_created_bound_changed_and_deleted() -> None:
    server, counts = await _play(
        _create(),
        _action(Method.PATCH, spec={"nodeName": "n"}, metadata={"generation": 2}),
        _action(Method.PATCH, metadata={"labels": {"a": "b"}}, status={"phase": "Running"}),
        _action(Method.DELETE),
    )
    assert (counts.done, counts.failed) == (4, [])
    sent = [(r.method, r.path, json.loads(r.body)) for r in server.requests if r.method != "GET"]
    assert [(method, path) for method, path, _ in sent] == [
        ("POST", PATH),
        ("POST", f"{PATH}/a/binding"),
        ("PATCH", f"{PATH}/a"),
        ("PATCH", f"{PATH}/a/status"),
        ("DELETE", f"{PATH}/a"),
    ]
    assert sent[1][2]["target"]["name"] == "n"
    assert sent[2][2] == {"metadata": {"labels": {"a": "b"}}}
    assert sent[3][2] == {"status": {"phase": "Running"}}
    assert sent[4][2]["gracePeriodSeconds"] == 0


async def test_references_in_changes_lead_to_the_new_objects() -> None:
    server, _ = await _play(
        _create("owner", uid=OLD),
        _action(Method.PATCH, "owner", metadata={"annotations": {"of": OLD}}),
    )
    [patch] = [json.loads(r.body) for r in server.requests if r.method == "PATCH"]
    assert patch["metadata"]["annotations"] == {"of": "new-owner"}


async def test_a_change_that_is_refused_is_named_with_its_line() -> None:
    _, counts = await _play(_action(Method.PATCH, "gone", metadata={"labels": {"a": "b"}}))
    [fault] = counts.failed
    assert fault.startswith("line 7, patch of Pod 'default/gone': ")


async def test_what_is_gone_already_need_not_be_deleted() -> None:
    _, counts = await _play(_action(Method.DELETE, "gone"))
    assert (counts.done, counts.failed) == (1, [])


def _passed(use: Callable[[ReplayClock], None], due: float, speed: float = 1.0) -> float:
    """Return after how many seconds a recording has come to a time; `use` is called after one."""

    async def run() -> float:
        loop = asyncio.get_running_loop()
        clock = ReplayClock(speed, loop.time)
        loop.call_later(1.0, use, clock)
        await clock.wait(due)
        return round(loop.time(), 3)

    return run_virtually(run())


def test_time_passes_as_fast_as_it_did_or_faster() -> None:
    assert _passed(lambda _: None, 10.0) == 10.0
    assert _passed(lambda _: None, 10.0, speed=5.0) == 2.0


def test_keys_hold_the_time_and_let_it_run_faster_and_slower() -> None:
    def hold(clock: ReplayClock) -> None:
        press(clock, b" ")
        assert clock.speed == 0
        asyncio.get_running_loop().call_later(5.0, press, clock, b"\n")

    assert _passed(hold, 10.0) == 15.0
    assert _passed(lambda clock: press(clock, b"U"), 11.0) == 6.0
    assert _passed(lambda clock: press(clock, b"dx"), 6.0) == 11.0


def test_no_more_than_a_second_is_made_up_for() -> None:
    async def run() -> float:
        loop = asyncio.get_running_loop()
        clock = ReplayClock(1.0, loop.time)
        await asyncio.sleep(30.0)
        await clock.wait(5.0)
        return clock.position

    assert run_virtually(run()) == 6.0
