"""Delivering signals to a receiver that fails, refuses, or is slow."""

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from kwokctl.clusters.faults.sinks.delivery import Delivery
from kwokctl.clusters.faults.sinks.receivers import (
    DeliveryError,
    check_receiver,
    open_receiver,
)
from kwokctl.errors import KwokctlError, UnavailableError, UsageError
from kwokctl.faults.truth.sink_signals import SinkSignal
from kwokctl.progress import Silent
from kwokctl.tasks import beside

NOON = "2026-01-01T12:00:00Z"
AT_NOON = 1767268800.0


class Heard(Silent):
    """Remembers warnings."""

    def __init__(self) -> None:
        self.warnings: list[str] = []

    def warn(self, text: str) -> None:
        self.warnings.append(text)


class Receiver:
    """Takes documents unless it has a reason not to."""

    def __init__(self, *failures: DeliveryError) -> None:
        self.failures = [*failures]
        self.taken: list[str] = []
        self.is_open = asyncio.Event()
        self.is_open.set()

    async def send(self, document: bytes) -> None:
        await self.is_open.wait()
        if self.failures:
            raise self.failures.pop(0)
        self.taken.append(msgspec.json.decode(document)["id"])


def signal(name: str, time: str = NOON) -> SinkSignal:
    return SinkSignal(
        id=name, time=time, phase="signal", fault="f", uid="u", class_name="c", node="n", fatal=True
    )


def delivery(receiver: Receiver, heard: Heard, now: float = AT_NOON, **given: Any) -> Delivery:
    return Delivery("there", receiver.send, heard, lambda: now, **given)


async def until(holds: Callable[[], object]) -> None:
    async with asyncio.timeout(10):
        while not holds():
            await asyncio.sleep(0)


async def test_one_that_fails_is_sent_again_before_the_next() -> None:
    heard, receiver = Heard(), Receiver(DeliveryError("refused"), DeliveryError("refused"))
    found = delivery(receiver, heard)
    async with beside(found.run()):
        await found.put([signal("a"), signal("b")])
        await until(lambda: receiver.taken == ["a", "b"])
        await until(lambda: found.left == 0)
    assert heard.warnings == ["the sink 'there' takes no signals: refused; trying again"]


async def test_one_that_will_never_be_taken_is_said_and_left_out() -> None:
    heard, receiver = Heard(), Receiver(DeliveryError("it answered 400", is_final=True))
    found = delivery(receiver, heard)
    async with beside(found.run()):
        await found.put([signal("a"), signal("b")])
        await until(lambda: receiver.taken == ["b"])
    assert heard.warnings == ["the sink 'there' refuses signal a: it answered 400"]


async def test_nothing_is_read_while_the_queue_is_full_and_nothing_is_lost() -> None:
    heard, receiver = Heard(), Receiver()
    found = delivery(receiver, heard, most=2)
    receiver.is_open.clear()
    names = [str(number) for number in range(6)]
    async with beside(found.run()):
        putting = asyncio.create_task(found.put([signal(each) for each in names]))
        await until(lambda: heard.warnings)
        assert not putting.done()
        receiver.is_open.set()
        await putting
        await until(lambda: receiver.taken == names)
    assert "2 signals wait for the sink 'there'" in heard.warnings[0]


@pytest.mark.parametrize(
    ("began", "now", "late"), [(0.0, 4.0, None), (0.0, 7.5, "7.5 s late"), (1.0, 7.5, None)]
)
async def test_a_late_one_is_said_unless_it_was_due_before_anybody_asked(
    began: float, now: float, late: str | None
) -> None:
    heard, receiver = Heard(), Receiver()
    times = [AT_NOON + began]
    found = Delivery("there", receiver.send, heard, lambda: times[-1])
    times.append(AT_NOON + now)
    async with beside(found.run()):
        await found.put([signal("a")])
        await until(lambda: receiver.taken and found.left == 0)
    assert heard.warnings == ([] if late is None else [f"the sink 'there' got signal a {late}"])


@pytest.mark.parametrize(
    ("word", "says", "kind"),
    [
        ("ftp://x", "neither exec: nor a URL", UsageError),
        ("http://", "neither exec: nor a URL", UsageError),
        ("http://x:99999/", "neither exec: nor a URL", UsageError),
        ("exec:", "names no program", UsageError),
        ("exec:'a", "no closing quotation", UsageError),
        ("exec:/no/such", "is not there, or cannot be run", UnavailableError),
    ],
)
def test_what_cannot_be_a_receiver(word: str, says: str, kind: type[KwokctlError]) -> None:
    with pytest.raises(kind, match=says):
        check_receiver(word)


@pytest.mark.parametrize("word", ["http://x", "https://me:secret@[::1]:8443/a?b=c", "exec:cat -n"])
def test_what_can(word: str) -> None:
    check_receiver(word)


async def test_a_program_that_fails_has_not_taken_it() -> None:
    async with open_receiver("exec:sh -c 'read -r line; test \"$line\" = good'") as send:
        await send(b"good")
        with pytest.raises(DeliveryError, match="exited with 1"):
            await send(b"bad")
