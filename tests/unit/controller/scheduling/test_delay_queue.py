import asyncio
from random import Random

from kwokctl.controller.scheduling.delay_queue import DelayQueue, DueTimes
from tests.support import virtual_time


def test_keys_come_out_when_they_are_due_and_in_order() -> None:
    schedule: DueTimes[str] = DueTimes()
    schedule.put("late", 3.0)
    schedule.put("early", 1.0)
    schedule.put("middle", 2.0)

    assert list(schedule.pop_due(2.0)) == ["early", "middle"]
    assert list(schedule.pop_due(2.9)) == []
    assert list(schedule.pop_due(3.0)) == ["late"]
    assert len(schedule) == 0


def test_a_later_put_replaces_the_earlier_one() -> None:
    schedule: DueTimes[str] = DueTimes()
    schedule.put("a", 1.0)
    schedule.put("a", 5.0)

    assert schedule.next_due() == 5.0
    assert list(schedule.pop_due(4.0)) == []
    assert list(schedule.pop_due(5.0)) == ["a"]


def test_put_again_with_the_same_time_comes_out_once() -> None:
    schedule: DueTimes[str] = DueTimes()
    schedule.put("a", 1.0)
    schedule.put("a", 1.0)

    assert list(schedule.pop_due(1.0)) == ["a"]


def test_a_forgotten_key_does_not_come_out() -> None:
    schedule: DueTimes[str] = DueTimes()
    schedule.put("a", 1.0)
    schedule.forget("a")
    schedule.forget("never put")

    assert schedule.next_due() is None
    assert list(schedule.pop_due(9.0)) == []


def test_keys_due_at_the_same_time_keep_the_order_they_were_put_in() -> None:
    schedule: DueTimes[object] = DueTimes()
    keys = [object() for _ in range(5)]
    for key in keys:
        schedule.put(key, 1.0)

    assert list(schedule.pop_due(1.0)) == keys


def test_a_key_may_be_put_again_while_the_due_ones_are_taken() -> None:
    schedule: DueTimes[int] = DueTimes()
    for key in range(200):
        schedule.put(key, float(key))

    seen = []
    for key in schedule.pop_due(99.0):
        seen.append(key)
        schedule.put(key, key + 1000.0)

    assert seen == list(range(100))
    assert len(schedule) == 200


def test_the_heap_does_not_grow_with_replaced_entries() -> None:
    schedule: DueTimes[int] = DueTimes()
    random = Random(1)
    for _ in range(10_000):
        schedule.put(random.randrange(10), random.random())

    assert len(schedule._heap) < 200
    assert len(list(schedule.pop_due(1.0))) == 10


class Waiter:
    """Notes when it is called."""

    def __init__(self, called: list[float]) -> None:
        self._called = called

    def on_due(self) -> None:
        self._called.append(asyncio.get_running_loop().time())


def test_long_delays_end_at_shared_moments_and_never_early() -> None:
    random = Random(1)
    delays = sorted(random.uniform(1, 3) for _ in range(1000))
    called: list[float] = []

    async def whole() -> None:
        queue = DelayQueue()
        for delay in delays:
            queue.put(Waiter(called), delay)
        await asyncio.sleep(4)

    virtual_time.run(whole())

    assert len(called) == 1000
    assert all(0 <= at - delay <= 1 / 64 for at, delay in zip(called, delays, strict=True))
    assert len(set(called)) < 140


def test_short_delays_end_when_they_are_due() -> None:
    called: list[float] = []

    async def whole() -> None:
        DelayQueue().put(Waiter(called), 0.7)
        await asyncio.sleep(1)

    virtual_time.run(whole())

    assert called == [0.7]


def test_what_waits_for_ever_keeps_nobody_else_waiting() -> None:
    called: list[float] = []

    async def whole() -> None:
        queue = DelayQueue()
        queue.put(Waiter([]), float("inf"))
        queue.put(Waiter(called), 0.7)
        await asyncio.sleep(1)

    virtual_time.run(whole())

    assert called == [0.7]
