"""How messages are sent: within the windows, frames and streams that a server grants."""

import pytest

from kwokctl.etcd.grpc.http2_frames import (
    CANCEL,
    DATA,
    END_STREAM,
    HEADERS,
    INITIAL_WINDOW_SIZE,
    LARGEST_WINDOW,
    MAX_CONCURRENT_STREAMS,
    MAX_FRAME_SIZE,
    RST_STREAM,
    WINDOW_UPDATE,
    settings,
    window_update,
)
from tests.support.http2_peer import Frame, Peer, answer, data, message, refusal, wrong

ROOMY = {INITIAL_WINDOW_SIZE: 1 << 20, MAX_FRAME_SIZE: 1 << 20}


def body(said: list[Frame], stream: int) -> bytes:
    """Return what a client has sent on a stream, as yet."""
    return b"".join(f.payload for f in said if f.kind == DATA and f.stream == stream)


async def test_a_message_waits_for_the_window_of_the_connection() -> None:
    peer = Peer(ROOMY)
    content = bytes(range(250)) * 400
    peer.call(content)
    whole = message(content)

    said = await peer.heard()
    assert body(said, 1) == whole[:65_535]
    peer.say(window_update(0, 10))
    said = await peer.heard()
    assert body(said, 1) == whole[65_535:65_545]
    peer.say(window_update(0, 1 << 20))
    said = await peer.heard()
    assert body(said, 1) == whole[65_545:]
    assert said[-1].flags == END_STREAM


async def test_a_message_waits_for_the_window_of_its_stream_and_others_pass_it() -> None:
    peer = Peer({INITIAL_WINDOW_SIZE: 100})
    peer.call(b"a" * 200)
    peer.call(b"b" * 50)

    said = await peer.heard()
    assert body(said, 1) == message(b"a" * 200)[:100]
    assert body(said, 3) == message(b"b" * 50)
    peer.say(window_update(1, 30), window_update(3, 30))
    assert body(await peer.heard(), 1) == b"a" * 30
    peer.say(window_update(1, 100))
    assert [(f.payload, f.flags) for f in await peer.heard()] == [(b"a" * 75, END_STREAM)]


async def test_a_new_initial_window_changes_the_windows_of_open_streams() -> None:
    peer = Peer({INITIAL_WINDOW_SIZE: 100})
    peer.call(b"a" * 300)
    assert len(body(await peer.heard(), 1)) == 100

    # Now at -60: 60 more let nothing through.
    peer.say(settings({INITIAL_WINDOW_SIZE: 40}))
    peer.say(window_update(1, 60))
    assert body(await peer.heard(), 1) == b""
    peer.say(settings({INITIAL_WINDOW_SIZE: 50}))
    assert len(body(await peer.heard(), 1)) == 10
    peer.say(settings({INITIAL_WINDOW_SIZE: 1000}))
    assert len(body(await peer.heard(), 1)) == 195


async def test_what_waits_for_the_connection_s_window_goes_in_order() -> None:
    peer = Peer(ROOMY)
    peer.call(b"a" * 65_530)
    for letter in b"bcd":
        peer.call(bytes((letter,)) * 10)
    said = await peer.heard()
    assert [f.stream for f in said if f.kind == HEADERS] == [1, 3, 5, 7]
    assert {f.stream for f in said if f.kind == DATA} == {1}

    peer.say(window_update(0, 15))
    peer.say(window_update(0, 20))

    said = await peer.heard()
    assert [(f.stream, len(f.payload)) for f in said] == [(3, 15), (5, 15), (7, 5)]


async def test_a_message_is_cut_into_frames_that_the_server_takes() -> None:
    peer = Peer({INITIAL_WINDOW_SIZE: 1 << 20, MAX_FRAME_SIZE: 20_000})
    peer.call(b"x" * 50_000)

    sizes = [len(f.payload) for f in await peer.heard() if f.kind == DATA]

    assert sizes == [20_000, 20_000, 10_005]


@pytest.mark.parametrize(
    ("granted", "size", "frames"),
    [
        (ROOMY, 65_536, [65_535]),
        ({INITIAL_WINDOW_SIZE: 100}, 101, [100]),
        ({}, 16_385, [16_384, 1]),
    ],
    ids=["connection", "stream", "frame"],
)
async def test_a_message_of_one_byte_too_many_does_not_go_as_a_whole(
    granted: dict[int, int], size: int, frames: list[int]
) -> None:
    peer = Peer(granted)
    peer.call(bytes(size - len(message(b""))))

    said = [f for f in await peer.heard() if f.kind == DATA]

    assert [len(f.payload) for f in said] == frames
    assert said[0].flags == 0


async def test_settings_that_are_not_named_again_stay() -> None:
    peer = Peer({INITIAL_WINDOW_SIZE: 25_000, MAX_FRAME_SIZE: 20_000})
    peer.say(settings({MAX_CONCURRENT_STREAMS: 10}))
    peer.call(b"x" * 30_000)

    assert [len(f.payload) for f in await peer.heard() if f.kind == DATA] == [20_000, 5_000]


@pytest.mark.parametrize(
    "said",
    [window_update(1, 1), settings({INITIAL_WINDOW_SIZE: ROOMY[INITIAL_WINDOW_SIZE] + 1})],
    ids=["window", "settings"],
)
async def test_the_window_of_a_stream_may_be_the_largest_and_no_larger(said: bytes) -> None:
    peer = Peer(ROOMY)
    call = peer.call(b"x" * 100_000)
    left = ROOMY[INITIAL_WINDOW_SIZE] - len(body(await peer.heard(), 1))

    peer.say(window_update(1, LARGEST_WINDOW - left))
    assert not peer.transport.is_aborted
    peer.say(said)

    assert "too large" in str(await wrong(call))


async def test_a_call_that_was_held_and_sent_in_full_is_not_reset_by_its_answer() -> None:
    peer = Peer(ROOMY)
    call = peer.call(b"x" * 70_000)
    peer.say(window_update(0, 10_000))
    await peer.heard()

    peer.say(answer(1, b"done"))

    assert await call.answer == b"done"
    assert await peer.heard() == []


async def test_after_an_early_answer_the_rest_of_the_request_is_not_sent() -> None:
    peer = Peer()
    call = peer.call(b"x" * 100_000)
    await peer.heard()

    peer.say(refusal(1, 8, b"too large"))
    peer.say(window_update(0, 1 << 20), window_update(1, 1 << 20))

    assert "too large" in str(await wrong(call))
    assert await peer.heard() == [Frame(RST_STREAM, 0, 1, CANCEL.to_bytes(4))]


async def test_no_more_streams_are_opened_than_the_server_wants() -> None:
    peer = Peer({MAX_CONCURRENT_STREAMS: 2})
    calls = [peer.call() for _ in range(5)]
    assert {f.stream for f in await peer.heard()} == {1, 3}

    peer.say(answer(3))
    assert {f.stream for f in await peer.heard()} == {5}
    peer.say(settings({MAX_CONCURRENT_STREAMS: 3}))
    assert {f.stream for f in await peer.heard()} == {7}
    peer.client.cancel(calls[0])
    assert {(f.stream, f.kind) for f in await peer.heard()} >= {(1, RST_STREAM), (9, HEADERS)}
    for stream in (5, 7, 9):
        peer.say(answer(stream, b"%d" % stream))
    assert [await call.answer for call in calls[2:]] == [b"5", b"7", b"9"]


async def test_what_was_received_may_be_sent_again() -> None:
    peer = Peer()
    first, second = peer.call(), peer.call()
    peer.client.cancel(first)
    await peer.heard()

    for stream in (1, 3) * 64:
        peer.say(data(stream, bytes(16_000)))

    # Also data that no call waits for any more has taken its share of the connection's window.
    grown = [int.from_bytes(f.payload) for f in await peer.heard() if f.kind == WINDOW_UPDATE]
    assert sum(grown) >= 2_000_000 - (1 << 20)
    assert not second.answer.done()
