"""How calls and connections end before they are answered."""

import asyncio

import pytest

from kwokctl.errors import EtcdGoneError
from kwokctl.etcd.grpc import http2_frames
from kwokctl.etcd.grpc.call_errors import NotProcessedError
from kwokctl.etcd.grpc.http2_frames import (
    CANCEL,
    MAX_CONCURRENT_STREAMS,
    PING,
    REFUSED_STREAM,
    RST_STREAM,
    frame,
    rst_stream,
    settings,
    window_update,
)
from tests.support import virtual_time
from tests.support.http2_peer import Frame, Peer, answer, goaway, wrong


async def test_a_cancelled_call_is_reset_and_its_late_answer_ignored() -> None:
    peer = Peer()
    call, other = peer.call(), peer.call()
    await peer.heard()

    peer.client.cancel(call)
    peer.client.cancel(call)

    assert await peer.heard() == [Frame(RST_STREAM, 0, 1, CANCEL.to_bytes(4))]
    peer.say(answer(1), rst_stream(1, CANCEL), window_update(1, 5), answer(3, b"other"))
    assert await other.answer == b"other"
    assert not call.answer.done()


async def test_a_call_that_is_cancelled_while_it_is_sent_sends_no_more() -> None:
    peer = Peer()
    call = peer.call(b"x" * 100_000)
    await peer.heard()

    peer.client.cancel(call)
    peer.say(window_update(0, 1 << 20), window_update(1, 1 << 20))

    assert [f.kind for f in await peer.heard()] == [RST_STREAM]


async def test_a_call_that_is_cancelled_while_it_waits_is_never_sent() -> None:
    peer = Peer({MAX_CONCURRENT_STREAMS: 0})
    call = peer.call()

    peer.client.cancel(call)
    peer.say(settings({MAX_CONCURRENT_STREAMS: 10}))

    assert await peer.heard() == []


def test_a_call_that_is_late_fails_alone_while_others_are_answered() -> None:
    async def late() -> None:
        peer = Peer({MAX_CONCURRENT_STREAMS: 3})
        slow, quick, patient = peer.call(within=5), peer.call(within=30), peer.call(within=30)
        waiting = peer.call(within=4)
        await asyncio.sleep(1)
        peer.say(answer(3, b"quick"))
        await quick.answer
        await asyncio.sleep(2)
        peer.say(frame(PING, 0, 0, bytes(8)))
        late = await wrong(slow)
        assert isinstance(late, EtcdGoneError)
        assert "in time" in str(late)
        assert peer.loop.time() == pytest.approx(5)
        assert Frame(RST_STREAM, 0, 1, CANCEL.to_bytes(4)) in await peer.heard()
        assert peer.client.is_usable
        assert waiting.stream == 7
        peer.say(answer(5, b"patient"))
        assert await patient.answer == b"patient"

    virtual_time.run(late())


def test_a_connection_that_is_silent_until_a_deadline_takes_no_more_calls() -> None:
    async def silent() -> None:
        peer = Peer()
        short, long = peer.call(within=5), peer.call(within=20)
        assert "in time" in str(await wrong(short))
        assert not peer.client.is_usable
        # Who has more patience may still be answered.
        peer.say(answer(3, b"at last"))
        assert await long.answer == b"at last"
        assert peer.transport.is_aborted

    virtual_time.run(silent())


def test_a_call_that_waits_for_its_turn_fails_at_its_deadline() -> None:
    async def late() -> None:
        peer = Peer({MAX_CONCURRENT_STREAMS: 0})
        call = peer.call(within=5)
        assert isinstance(await wrong(call), EtcdGoneError)
        assert await peer.heard() == []

    virtual_time.run(late())


async def test_a_goodbye_lets_calls_end_and_gives_back_those_not_looked_at() -> None:
    peer = Peer({MAX_CONCURRENT_STREAMS: 3})
    calls = [peer.call() for _ in range(4)]

    peer.say(goaway(3))

    assert not peer.client.is_usable
    assert [type(await wrong(call)) for call in calls[2:]] == [NotProcessedError] * 2
    peer.say(answer(1, b"one"))
    assert not peer.transport.is_aborted
    peer.say(answer(3, b"two"))
    assert [await call.answer for call in calls[:2]] == [b"one", b"two"]
    assert peer.transport.is_aborted


async def test_a_second_goaway_is_accepted() -> None:
    peer = Peer()
    first, second = peer.call(), peer.call()

    peer.say(goaway(http2_frames.LARGEST_WINDOW))
    peer.say(goaway(1))

    assert isinstance(await wrong(second), NotProcessedError)
    peer.say(answer(1, b"one"))
    assert await first.answer == b"one"


async def test_a_reset_shows_whether_the_call_was_processed() -> None:
    peer = Peer()
    refused, broken = peer.call(), peer.call()

    peer.say(rst_stream(1, REFUSED_STREAM), rst_stream(3, 2))

    assert isinstance(await wrong(refused), NotProcessedError)
    error = await wrong(broken)
    assert isinstance(error, EtcdGoneError)
    assert "error 2" in str(error)
    assert peer.client.is_usable


@pytest.mark.parametrize("said", [rst_stream(3, CANCEL), goaway(1)], ids=["reset", "goodbye"])
async def test_a_call_that_the_server_ends_while_it_is_sent_sends_no_more(said: bytes) -> None:
    peer = Peer()
    peer.call()
    call = peer.call(b"x" * 100_000)
    await peer.heard()

    peer.say(said, window_update(0, 1 << 20), window_update(3, 1 << 20))

    await wrong(call)
    assert await peer.heard() == []


async def test_a_lost_connection_leaves_the_outcome_of_what_was_sent_unknown() -> None:
    peer = Peer({MAX_CONCURRENT_STREAMS: 1})
    sent, waiting = peer.call(), peer.call()

    peer.client.connection_lost(ConnectionResetError(104, "Connection reset by peer"))

    error = await wrong(sent)
    assert isinstance(error, EtcdGoneError)
    assert "Connection reset by peer" in str(error)
    assert "may or may not have been carried out" in (error.hint or "")
    assert isinstance(await wrong(waiting), NotProcessedError)
    assert peer.client.lost.is_set()
    assert not peer.client.is_usable


async def test_a_connection_whose_streams_are_used_up_ends_with_its_calls() -> None:
    peer = Peer(last_stream=5)
    calls = [peer.call() for _ in range(4)]

    assert isinstance(await wrong(calls[3]), NotProcessedError)
    assert not peer.client.is_usable
    for stream in (1, 3, 5):
        peer.say(answer(stream, b"%d" % stream))
    assert [await call.answer for call in calls[:3]] == [b"1", b"3", b"5"]
    assert peer.transport.is_aborted
