"""One connection, against a server in memory that says whatever a server might."""

import asyncio

from kwokctl.etcd.grpc import hpack, http2_frames
from kwokctl.etcd.grpc.http2_frames import (
    ACK,
    CONTINUATION,
    DATA,
    END_HEADERS,
    END_STREAM,
    HEADERS,
    INITIAL_WINDOW_SIZE,
    LARGEST_WINDOW,
    MAX_FRAME_SIZE,
    PADDED,
    PING,
    PRIORITIZED,
    WINDOW_UPDATE,
    frame,
)
from tests.support.http2_peer import BEGIN, END, Frame, Peer, answer, data, headers, message


async def test_a_client_begins_as_the_protocol_demands() -> None:
    peer = Peer()

    assert peer.opening == (
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
        # Settings: no table for headers, no pushes, windows as large as can be.
        b"\x00\x00\x12\x04\x00\x00\x00\x00\x00"
        b"\x00\x01\x00\x00\x00\x00"
        b"\x00\x02\x00\x00\x00\x00"
        b"\x00\x04\x7f\xff\xff\xff"
        # The window of the connection, from 65,535 to 2^31 - 1.
        b"\x00\x00\x04\x08\x00\x00\x00\x00\x00\x7f\xff\x00\x00"
    )
    assert await peer.client.greeted is None


async def test_settings_are_acknowledged() -> None:
    peer = Peer()
    await asyncio.sleep(0.001)

    assert peer.transport.writes == [b"\x00\x00\x00\x04\x01\x00\x00\x00\x00"]


async def test_settings_may_be_as_large_as_the_protocol_lets_them() -> None:
    peer = Peer({INITIAL_WINDOW_SIZE: LARGEST_WINDOW, MAX_FRAME_SIZE: (1 << 24) - 1})

    assert peer.client.is_usable


async def test_the_reserved_bit_of_a_number_is_ignored() -> None:
    peer = Peer({INITIAL_WINDOW_SIZE: 100})
    peer.call(b"x" * 200)
    await peer.heard()

    peer.say(frame(WINDOW_UPDATE, 0, 1, (1 << 31 | 10).to_bytes(4)))

    assert [f.payload for f in await peer.heard()] == [b"x" * 10]


async def test_a_call_is_a_frame_of_headers_and_one_of_data() -> None:
    peer = Peer()

    peer.call(b"hello")

    head, content = await peer.heard()
    assert head[:3] == (HEADERS, END_HEADERS, 1)
    assert hpack.decode(head.payload) == [
        (b":method", b"POST"),
        (b":scheme", b"http"),
        (b":path", b"/a.Service/Method"),
        (b":authority", b"localhost"),
        (b"content-type", b"application/grpc"),
        (b"te", b"trailers"),
        (b"user-agent", b"kwokctl"),
    ]
    assert content == (DATA, END_STREAM, 1, b"\x00\x00\x00\x00\x05hello")


async def test_an_answer_is_handed_over() -> None:
    peer = Peer()
    call = peer.call()

    peer.say(answer(1, b"world"))

    assert await call.answer == b"world"


async def test_calls_of_one_turn_of_the_loop_are_written_at_once() -> None:
    peer = Peer()
    await peer.heard()

    for _ in range(10):
        peer.call(b"x" * 1000)
    await asyncio.sleep(0.001)

    assert len(peer.transport.writes) == 1
    assert [f.stream for f in await peer.heard() if f.kind == DATA] == list(range(1, 21, 2))


async def test_answers_may_come_in_any_order_and_interleaved() -> None:
    peer = Peer()
    first, second = peer.call(), peer.call()

    peer.say(headers(3, BEGIN), headers(1, BEGIN), data(1, message(b"one")))
    peer.say(data(3, message(b"two")), headers(3, END, ends=True), headers(1, END, ends=True))

    assert (await first.answer, await second.answer) == (b"one", b"two")


async def test_frames_may_be_cut_anywhere() -> None:
    said = frame(PING, 0, 0, b"12345678") + answer(1, b"one") + answer(3, b"two" * 50)
    for at in range(len(said)):
        peer = Peer()
        first, second = peer.call(), peer.call()
        peer.say(said[:at])
        peer.say(said[at:])
        assert (await first.answer, await second.answer) == (b"one", b"two" * 50)

    peer = Peer()
    first, second = peer.call(), peer.call()
    for byte in said:
        peer.say(bytes((byte,)))
    assert (await first.answer, await second.answer) == (b"one", b"two" * 50)


async def test_a_long_answer_comes_in_many_frames() -> None:
    peer = Peer()
    call = peer.call()
    content = bytes(range(256)) * 4000

    peer.say(answer(1, content))

    assert await call.answer == content


async def test_padding_and_priorities_are_ignored() -> None:
    peer = Peer()
    call = peer.call()

    peer.say(
        frame(HEADERS, END_HEADERS | PADDED | PRIORITIZED, 1, b"\x02" + bytes(5) + BEGIN + b"\0\0"),
        frame(DATA, PADDED, 1, b"\x03" + message(b"padded") + b"\0\0\0"),
        frame(DATA, PADDED, 1, b"\x00"),
        frame(http2_frames.PRIORITY, 0, 1, bytes(5)),
        frame(HEADERS, END_HEADERS | PRIORITIZED | END_STREAM, 1, bytes(5) + END),
    )

    assert await call.answer == b"padded"


async def test_headers_may_go_on_in_further_frames() -> None:
    peer = Peer()
    call = peer.call()

    peer.say(
        frame(HEADERS, 0, 1, BEGIN[:3]),
        frame(CONTINUATION, 0, 1, BEGIN[3:9]),
        frame(CONTINUATION, END_HEADERS, 1, BEGIN[9:]),
        data(1, message(b"whole")),
        frame(HEADERS, END_STREAM, 1, END[:1]),
        frame(CONTINUATION, END_HEADERS, 1, END[1:]),
    )

    assert await call.answer == b"whole"


async def test_frames_of_an_unknown_type_are_ignored() -> None:
    peer = Peer()
    call = peer.call()

    peer.say(frame(0x20, 0xFF, 7, b"what?"), answer(1, b"yes"))

    assert await call.answer == b"yes"


async def test_provisional_headers_are_ignored() -> None:
    peer = Peer()
    call = peer.call()

    peer.say(headers(1, hpack.encode([(b":status", b"103")])), answer(1, b"final"))

    assert await call.answer == b"final"


async def test_a_ping_is_answered_and_answers_to_pings_are_not() -> None:
    peer = Peer()

    peer.say(frame(PING, ACK, 0, b"87654321"), frame(PING, 0, 0, b"12345678"))

    assert await peer.heard() == [Frame(PING, ACK, 0, b"12345678")]
