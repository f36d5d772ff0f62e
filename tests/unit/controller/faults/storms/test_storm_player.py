"""How schedules are played: each planned fault is made or suppressed once, in time, whatever fails."""

import asyncio
import copy
from collections import Counter
from collections.abc import Callable, Coroutine
from itertools import pairwise
from random import Random
from typing import Any

import pytest

from kwokctl.errors import ApiError
from kwokctl.faults.storms.plan_pages import plan_page
from kwokctl.faults.storms.storm_faults import fault_name
from kwokctl.faults.storms.storm_plan import PlannedFault
from kwokctl.replacing import replace
from tests.support import storm_rig, virtual_time
from tests.support.faults import NOON
from tests.support.storm_rig import NAME, UID, Controller, KilledError, StoredStorm, ended, play

NODES = {f"n-{number}": f"r-{number // 2}" for number in range(6)}


def planned(at: float, node: str = "n-0", *, gpu: int | None = None, **more: Any) -> PlannedFault:
    fields: dict[str, Any] = {
        "process": "p", "class_name": "not-ready", "level": None, "lasts": 5.0, "seed": 3, "nodes": (node,),
    }  # fmt: skip
    unit = node if gpu is None else f"{node}/gpu-{gpu}"
    return PlannedFault(at=at, unit=unit, gpu=gpu, **(fields | more))


def storm(number: int, gap: float = 2.0, lasts: float = 1.0) -> list[PlannedFault]:
    """Return faults on one node after the other."""
    names = [*NODES]
    return [planned(gap * n, names[n % len(names)], lasts=lasts) for n in range(1, number + 1)]


def run(stored: StoredStorm, fails: Callable[[], None] = lambda: None) -> int:
    return virtual_time.run(play(stored, fails))


def numbers(stored: StoredStorm) -> list[int]:
    """Return the numbers of the Faults that were made."""
    return sorted(int(name.rpartition("-")[2]) for name in stored.made)


def check_whole(stored: StoredStorm, faults: list[PlannedFault]) -> None:
    status = stored.schedule.status
    assert sorted([*numbers(stored), *stored.reasons]) == [*range(len(faults))]
    assert status.next == status.planned == len(faults)
    assert status.injected == len(stored.made)
    assert status.suppressed == len(stored.reasons)
    assert status.suppressed_by == dict(Counter(stored.reasons.values()))


def test_each_fault_comes_at_its_time() -> None:
    faults = storm(5)
    stored = StoredStorm(faults, NODES, horizon="1m")

    run(stored)

    check_whole(stored, faults)
    times = stored.times.values()
    start = (stored.schedule.status.start or 0.0) - 1767268800.0
    assert [round(time - start) for time in times] == [2, 4, 6, 8, 10]
    assert all(time - start >= fault.at for time, fault in zip(times, faults, strict=True))
    assert stored.schedule.status.late == 0


def test_a_faster_clock_shortens_times_and_lengths() -> None:
    stored = StoredStorm([planned(600.0, lasts=300.0)], NODES, horizon="1h", timeScale=60)

    run(stored)

    [fault] = stored.made.values()
    start = (stored.schedule.status.start or 0.0) - 1767268800.0
    assert round(stored.times[fault.metadata.name] - start) == 10
    assert fault.spec.lasts == "5s"
    assert fault.spec.time_scale == 60


class Trouble:
    """Requests that fail, and controllers that are killed, at random."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self.kills = 0

    def __call__(self) -> None:
        chance = self._random.random()
        if chance < 0.02:
            self.kills += 1
            raise KilledError
        if chance < 0.1:
            raise ApiError("no answer", status=0)


@pytest.mark.parametrize("seed", range(4))
def test_nothing_is_lost_or_made_twice_whatever_fails(seed: int) -> None:
    nodes = dict(NODES)
    faults = [*storm(60, gap=0.5, lasts=2.0), planned(20.0, "gone"), planned(21.0, "gone")]
    faults.sort(key=lambda each: each.at)
    trouble = Trouble(seed)
    stored = StoredStorm(faults, nodes, horizon="2m", limits={"maxOpen": 2})

    controllers = run(stored, trouble)

    check_whole(stored, faults)
    assert controllers == trouble.kills + 1
    assert {"Gone", "Limit"} <= {*stored.reasons.values()}
    for number in numbers(stored):
        fault = stored.made[fault_name(NAME, number)]
        assert fault.spec.target.nodes == faults[number].nodes


def test_many_suppressed_faults_take_several_pages_whatever_fails() -> None:
    faults = [planned(1.0 + number / 50, "gone") for number in range(600)]
    stored = StoredStorm(faults, NODES, horizon="1m")

    run(stored, Trouble(3))

    check_whole(stored, faults)
    assert sum("-suppressed-" in name for name in stored.pages) == 3


def test_a_fault_whose_time_has_passed_comes_late_and_is_counted() -> None:
    faults = storm(3)
    stored = StoredStorm(faults, NODES, horizon="1m")

    def away() -> None:
        if 3 < asyncio.get_running_loop().time() < 8:
            raise ApiError("no answer", status=0)

    run(stored, away)

    check_whole(stored, faults)
    assert stored.schedule.status.late == 2
    assert 3 < stored.schedule.status.latest < 7


@pytest.mark.parametrize(
    ("second", "reason"),
    [
        (planned(3.0, "n-0"), "Broken"),
        (planned(3.0, "n-0", class_name="ntp"), None),
        (planned(3.0, "n-1"), None),
        (planned(3.0, "n-9"), "Gone"),
        (planned(3.0, "n-0", gpu=1), "Broken"),
        (planned(8.0, "n-0"), None),
        (planned(1.001, "n-0"), "Broken"),
        (planned(3.0, "", nodes=("n-9", "n-0")), "Broken"),
        (planned(3.0, "", nodes=("n-1", "n-0")), None),
    ],
)
def test_a_unit_that_is_broken_or_gone_is_left_out(
    second: PlannedFault, reason: str | None
) -> None:
    stored = StoredStorm([planned(1.0, "n-0"), second], NODES, horizon="1m")

    run(stored)

    assert stored.reasons.get(1) == reason


@pytest.mark.parametrize(
    ("limits", "nodes", "reasons"),
    [
        ({"maxOpen": 1}, ("n-0", "n-2"), {1: "Limit"}),
        ({"maxOpen": 2}, ("n-0", "n-2"), {}),
        ({"maxOpen": "20%"}, ("n-0", "n-2"), {1: "Limit"}),
        ({"maxOpen": "34%"}, ("n-0", "n-2", "n-4"), {2: "Limit"}),
        ({"perRack": 1}, ("n-0", "n-1", "n-2"), {1: "Rack"}),
        ({"perRack": 2}, ("n-0", "n-1", "n-2"), {}),
    ],
)
def test_limits_count_nodes(limits: Any, nodes: tuple[str, ...], reasons: dict[int, str]) -> None:
    faults = [planned(1.0 + number, node) for number, node in enumerate(nodes)]
    stored = StoredStorm(faults, NODES, horizon="1m", limits=limits)

    run(stored)

    assert stored.reasons == reasons


def test_a_second_fault_on_a_node_is_within_the_limit() -> None:
    faults = [planned(1.0, gpu=0, class_name="xid-63"), planned(2.0, gpu=1, class_name="xid-63")]
    stored = StoredStorm(faults, NODES, horizon="1m", limits={"maxOpen": 1})

    run(stored)

    assert stored.reasons == {}


def test_a_node_in_repair_is_left_out() -> None:
    class OfOne:
        is_known = True

        def is_in_repair(self, node_uid: str) -> bool:
            return node_uid == "uid-n-0"

    stored = StoredStorm([planned(1.0, "n-0"), planned(1.5, "n-1")], NODES, horizon="10s")

    async def main() -> None:
        running = asyncio.create_task(Controller(stored, repairs=OfOne()).run())
        await asyncio.sleep(20)
        await ended(running)

    virtual_time.run(main())
    assert stored.reasons == {0: "Repair"}
    assert numbers(stored) == [1]


def test_a_fault_of_somebody_else_with_its_name_is_left_alone() -> None:
    stored = StoredStorm(storm(2), NODES, horizon="10s")
    stored.is_taken.add(fault_name(NAME, 0))

    run(stored)

    assert stored.reasons == {0: "Refused"}


def during(
    stored: StoredStorm,
    change: Callable[[Controller], Coroutine[Any, Any, None]],
    seconds: float = 30,
) -> None:
    """Play for some seconds, with a change beside it."""

    async def main() -> None:
        controller = Controller(stored)
        running = asyncio.create_task(controller.run())
        await change(controller)
        await asyncio.sleep(seconds - asyncio.get_running_loop().time())
        await ended(running)

    virtual_time.run(main())


def test_a_schedule_that_is_stopped_brings_no_more() -> None:
    stored = StoredStorm(storm(8), NODES, horizon="1m")

    async def stop(_: Controller) -> None:
        await asyncio.sleep(5)
        stored.versions += 1
        meta = replace(stored.schedule.metadata, resource_version=str(stored.versions))
        spec = replace(stored.schedule.spec, stop=True)
        stored.schedule = replace(stored.schedule, metadata=meta, spec=spec)

    during(stored, stop)

    assert stored.schedule.status.phase == "Stopped"
    assert numbers(stored) == [0, 1]
    assert stored.schedule.status.injected == 2


def test_a_schedule_that_was_put_back_goes_on_from_there() -> None:
    faults = storm(8)
    stored = StoredStorm(faults, NODES, horizon="20s")

    async def put_back(_: Controller) -> None:
        await asyncio.sleep(5)
        schedule, made = stored.schedule, dict(stored.made)
        await asyncio.sleep(4)
        assert len(stored.made) > len(made)
        stored.versions += 10
        meta = replace(schedule.metadata, resource_version=str(stored.versions))
        stored.schedule, stored.made = replace(schedule, metadata=meta), made

    during(stored, put_back)

    check_whole(stored, faults)


def test_a_controller_without_the_post_does_nothing() -> None:
    stored = StoredStorm(storm(8), NODES, horizon="1m")

    async def lose(controller: Controller) -> None:
        await asyncio.sleep(5)
        controller.has_post = False

    during(stored, lose)

    assert len(stored.made) == 2


def rewind(stored: StoredStorm, mark: StoredStorm) -> None:
    """Make the writes of one comparison of a rewind: Faults that came after the mark go, and what has changed goes back."""
    for name in stored.made.keys() - mark.made.keys():
        stored.gone.append(stored.made.pop(name))
    stored.pages = dict(mark.pages)
    if stored.schedule.status != mark.schedule.status:
        stored.versions += 1
        meta = replace(stored.schedule.metadata, resource_version=str(stored.versions))
        stored.schedule = replace(mark.schedule, metadata=meta)


def test_a_rewind_that_goes_on_when_the_schedule_does_loses_no_fault() -> None:
    faults = storm(6)
    stored = StoredStorm(faults, NODES, horizon="30s")
    marks: list[StoredStorm] = []

    def compared_again() -> None:
        """Compare once more as soon as the schedule has made a Fault after it was put back."""
        if marks and len(stored.made) > len(marks[0].made):
            rewind(stored, marks.pop())

    async def main() -> None:
        running = asyncio.create_task(Controller(stored, compared_again).run())
        await asyncio.sleep(5)
        mark = copy.copy(stored)
        mark.made, mark.pages = dict(stored.made), dict(stored.pages)
        await asyncio.sleep(4)
        assert len(stored.made) > len(mark.made) > 0
        rewind(stored, mark)
        marks.append(mark)
        await asyncio.sleep(60)
        assert not marks
        await ended(running)

    virtual_time.run(main())
    check_whole(stored, faults)
    assert stored.schedule.status.phase == "Completed"
    assert not stored.reasons


def test_a_rewind_that_deletes_a_fault_which_no_status_counts_loses_no_fault() -> None:
    faults = [
        planned(at, node) for at, node in ((2.0, "n-0"), (6.0, "n-1"), (6.3, "n-2"), (6.6, "n-3"))
    ]
    stored = StoredStorm(faults, NODES, horizon="60s")

    async def main() -> None:
        running = asyncio.create_task(Controller(stored).run())
        await asyncio.sleep(4)
        mark = copy.copy(stored)
        mark.made, mark.pages = dict(stored.made), dict(stored.pages)
        while len(stored.made) < 3:
            await asyncio.sleep(0.001)
        # The first of a burst is counted at once, and its successor in a second.
        mark.schedule = stored.schedule
        mark.made[fault_name(NAME, 1)] = stored.made[fault_name(NAME, 1)]
        assert stored.schedule.status.injected == 2
        rewind(stored, mark)
        assert len(stored.made) == 2
        await asyncio.sleep(80)
        await ended(running)

    virtual_time.run(main())
    check_whole(stored, faults)
    assert stored.schedule.status.resumed == 1
    assert not stored.reasons


def test_a_fault_that_no_watch_has_shown_for_a_minute_keeps_no_later_one_away() -> None:
    faults = [planned(1.0, lasts=3.0), planned(30.0), planned(70.0)]
    stored = StoredStorm(faults, NODES, horizon="2m")

    async def remove(_: Controller) -> None:
        """Delete the first Fault before the watch has shown it, as while all are listed anew."""
        while not stored.made:
            await asyncio.sleep(0.0001)
        stored.made.clear()

    during(stored, remove, 130)

    assert stored.reasons == {1: "Broken"}
    assert numbers(stored) == [2]


@pytest.mark.parametrize(
    ("spoiled", "why"),
    [("row", "JSON is malformed"), ("horizon", "'x' is not a duration")],
)
def test_a_schedule_that_cannot_be_read_says_so_once_and_waits_for_a_change(
    caplog: pytest.LogCaptureFixture, spoiled: str, why: str
) -> None:
    stored = StoredStorm(storm(3), NODES, horizon="x" if spoiled == "horizon" else "1m")
    if spoiled == "row":
        stored.put(plan_page(NAME, UID, 0), 0, ["{garbage"])

    during(stored, lambda _: asyncio.sleep(20))

    assert "it cannot be played" in stored.schedule.status.message
    assert [why in each.message for each in caplog.records] == [True]
    assert stored.schedule.status.phase == "Running"


@pytest.mark.parametrize("jump", [3600.0, -3600.0])
def test_a_time_of_day_that_is_set_shifts_the_rest_of_a_storm(
    monkeypatch: pytest.MonkeyPatch, jump: float
) -> None:
    faults = storm(8)
    stored = StoredStorm(faults, NODES, horizon="40s")

    async def set_time(controller: Controller) -> None:
        await asyncio.sleep(5)
        controller.faults.clock.run()
        monkeypatch.setattr(storm_rig, "NOON", NOON + jump)
        if jump < 0:  # in time nothing is due that would look
            controller.faults.clock.run()
            controller.player.wake()

    during(stored, set_time, 60)

    check_whole(stored, faults)
    assert stored.schedule.status.late == 0
    times = [*stored.times.values()]
    assert all(1 < later - earlier < 8 for earlier, later in pairwise(times))


def test_a_page_that_is_missing_is_reported_and_waited_for() -> None:
    faults = storm(3)
    stored = StoredStorm(faults, NODES, horizon="10s")
    page = stored.pages.pop(plan_page(NAME, UID, 0))

    async def restore(_: Controller) -> None:
        await asyncio.sleep(5)
        assert "page" in stored.schedule.status.message
        stored.pages[page.metadata.name] = page

    async def main() -> None:
        running = asyncio.create_task(Controller(stored).run())
        await restore(Controller(stored))
        await asyncio.sleep(60)
        await ended(running)

    virtual_time.run(main())
    check_whole(stored, faults)
    assert stored.schedule.status.message == ""


def test_a_plan_of_a_hundred_thousand_faults_is_read_page_by_page() -> None:
    faults = [planned(number / 1000, "gone") for number in range(3000)]
    stored = StoredStorm(faults, NODES, horizon="10s")
    status = replace(
        stored.schedule.status, next=2500, injected=2500, start=1767268800.0, phase="Running"
    )
    stored.schedule = replace(stored.schedule, status=status)

    run(stored)

    assert sorted(stored.reasons) == [*range(2500, 3000)]
    assert stored.schedule.status.pages > 5
