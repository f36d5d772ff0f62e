"""One connection, against a server in memory that says whatever a server might."""

import asyncio

import pytest

from kwokctl.errors import EtcdGoneError, EtcdRefusedError
from kwokctl.etcd import frames, hpack
from kwokctl.etcd.call import Call
from kwokctl.etcd.frames import (
    ACK,
    CANCEL,
    CONTINUATION,
    DATA,
    END_HEADERS,
    END_STREAM,
    HEADERS,
    INITIAL_WINDOW_SIZE,
    MAX_CONCURRENT_STREAMS,
    MAX_FRAME_SIZE,
    PADDED,
    PING,
    PRIORITIZED,
    PUSH_PROMISE,
    REFUSED_STREAM,
    RST_STREAM,
    SETTINGS,
    WINDOW_UPDATE,
    frame,
    rst_stream,
    settings,
    window_update,
)
from kwokctl.etcd.losses import NotProcessedError
from tests.support import virtual_time
from tests.support.http2_peer import (
    BEGIN,
    END,
    Frame,
    Peer,
    answer,
    data,
    goaway,
    headers,
    message,
    refusal,
)

ROOMY = {INITIAL_WINDOW_SIZE: 1 << 20, MAX_FRAME_SIZE: 1 << 20}


async def wrong(call: Call) -> BaseException:
    """Return what a call fails with."""
    await asyncio.wait([call.answer], timeout=5)
    error = call.answer.exception()
    assert error is not None
    return error


def body(said: list[Frame], stream: int) -> bytes:
    """Return what a client has sent on a stream, as yet."""
    return b"".join(f.payload for f in said if f.kind == DATA and f.stream == stream)


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


async def test_padding_and_priorities_are_passed_over() -> None:
    peer = Peer()
    call = peer.call()

    peer.say(
        frame(HEADERS, END_HEADERS | PADDED | PRIORITIZED, 1, b"\x02" + bytes(5) + BEGIN + b"\0\0"),
        frame(DATA, PADDED, 1, b"\x03" + message(b"padded") + b"\0\0\0"),
        frame(DATA, PADDED, 1, b"\x00"),
        frame(frames.PRIORITY, 0, 1, bytes(5)),
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


async def test_frames_of_a_kind_that_nobody_knows_are_passed_over() -> None:
    peer = Peer()
    call = peer.call()

    peer.say(frame(0x20, 0xFF, 7, b"what?"), answer(1, b"yes"))

    assert await call.answer == b"yes"


async def test_a_refusal_says_why() -> None:
    peer = Peer()
    call = peer.call()

    peer.say(refusal(1, 11, b"etcdserver: 100%25 compacted %e2%82%ac"))

    error = await wrong(call)
    assert isinstance(error, EtcdRefusedError)
    assert error.code == 11
    assert str(error) == "etcd refused: etcdserver: 100% compacted €"
    assert error.is_outcome_known
    assert not error.is_full


async def test_a_full_database_is_told_apart_from_a_message_that_is_too_large() -> None:
    peer = Peer()
    full, large = peer.call(), peer.call()

    peer.say(refusal(1, 8, b"etcdserver: mvcc: database space exceeded"))
    peer.say(refusal(3, 8, b"grpc: received message larger than max"))

    refusals = [await wrong(full), await wrong(large)]
    assert [isinstance(e, EtcdRefusedError) and e.is_full for e in refusals] == [True, False]
    assert "quota" in (getattr(refusals[0], "hint", None) or "")


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (headers(1, hpack.encode([(b":status", b"503")]), ends=True), "HTTP status 503"),
        (headers(1, BEGIN, ends=True), "no status"),
        (headers(1, BEGIN) + frame(DATA, END_STREAM, 1, message(b"")), "no status"),
        (refusal(1, 13, b""), "gRPC status 13"),
    ],
)
async def test_an_answer_without_a_clear_status_leaves_the_outcome_unknown(
    said: bytes, why: str
) -> None:
    peer = Peer()
    call = peer.call()

    peer.say(said)

    error = await wrong(call)
    assert isinstance(error, EtcdRefusedError)
    assert why in str(error)
    assert not error.is_outcome_known


@pytest.mark.parametrize(
    "content",
    [b"", b"\0\0\0", b"\0\0\0\0\x05four", b"\0\0\0\0\x03four", b"\1\0\0\0\x04four"],
    ids=["nothing", "cut prefix", "cut", "too much", "compressed"],
)
async def test_an_answer_that_is_not_one_whole_message_is_lost(content: bytes) -> None:
    peer = Peer()
    call = peer.call()

    peer.say(headers(1, BEGIN), data(1, content), headers(1, END, ends=True))

    assert "not one whole message" in str(await wrong(call))


async def test_provisional_headers_are_passed_over() -> None:
    peer = Peer()
    call = peer.call()

    peer.say(headers(1, hpack.encode([(b":status", b"103")])), answer(1, b"final"))

    assert await call.answer == b"final"


async def test_a_ping_is_answered_and_answers_to_pings_are_not() -> None:
    peer = Peer()

    peer.say(frame(PING, ACK, 0, b"87654321"), frame(PING, 0, 0, b"12345678"))

    assert await peer.heard() == [Frame(PING, ACK, 0, b"12345678")]


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


async def test_a_server_that_answers_early_is_told_no_more() -> None:
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

    # Also what nobody wants any more has taken its share of the connection's window.
    grown = [int.from_bytes(f.payload) for f in await peer.heard() if f.kind == WINDOW_UPDATE]
    assert sum(grown) >= 2_000_000 - (1 << 20)
    assert not second.answer.done()


async def test_a_cancelled_call_is_reset_and_its_late_answer_passed_over() -> None:
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


def test_a_connection_that_says_nothing_until_a_deadline_takes_no_more_calls() -> None:
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


async def test_a_goodbye_may_be_said_twice() -> None:
    peer = Peer()
    first, second = peer.call(), peer.call()

    peer.say(goaway(frames.LARGEST_WINDOW))
    peer.say(goaway(1))

    assert isinstance(await wrong(second), NotProcessedError)
    peer.say(answer(1, b"one"))
    assert await first.answer == b"one"


async def test_a_reset_tells_whether_the_call_was_looked_at() -> None:
    peer = Peer()
    refused, broken = peer.call(), peer.call()

    peer.say(rst_stream(1, REFUSED_STREAM), rst_stream(3, 2))

    assert isinstance(await wrong(refused), NotProcessedError)
    error = await wrong(broken)
    assert isinstance(error, EtcdGoneError)
    assert "error 2" in str(error)
    assert peer.client.is_usable


async def test_a_lost_connection_leaves_the_outcome_of_what_was_sent_unknown() -> None:
    peer = Peer({MAX_CONCURRENT_STREAMS: 1})
    sent, waiting = peer.call(), peer.call()

    peer.client.connection_lost(ConnectionResetError(104, "Connection reset by peer"))

    error = await wrong(sent)
    assert isinstance(error, EtcdGoneError)
    assert "Connection reset by peer" in str(error)
    assert "may have been done or not" in (error.hint or "")
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


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (frame(DATA, 0, 2, b""), "stream 2"),
        (frame(DATA, 0, 3, b""), "stream 3"),
        (headers(5, BEGIN), "stream 5"),
        (rst_stream(7, CANCEL), "stream 7"),
        (frame(DATA, PADDED, 1, b"\x05abc"), "padding"),
        (frame(DATA, PADDED, 1, b""), "padding"),
        (frame(HEADERS, END_HEADERS | PRIORITIZED, 1, b"abc"), "padding"),
        (headers(1, b"\xbe"), "entry 62"),
        (headers(1, hpack.encode([(b"grpc-status", b"fine")])), "not a number"),
        (frame(HEADERS, 0, 1, BEGIN) + frame(PING, 0, 0, bytes(8)), "does not go on"),
        (frame(HEADERS, 0, 1, BEGIN) + frame(CONTINUATION, 0, 3, b""), "does not go on"),
        (
            frame(HEADERS, 0, 1, bytes(16_384)) + frame(CONTINUATION, 0, 1, bytes(16_384)) * 5,
            "too long",
        ),
        (frame(CONTINUATION, 0, 1, b""), "nobody has asked for"),
        (frame(PUSH_PROMISE, 0, 1, b""), "nobody has asked for"),
        (frame(SETTINGS, 0, 1, b""), "names a stream"),
        (frame(SETTINGS, 0, 0, b"abc"), "settings are cut"),
        (settings({INITIAL_WINDOW_SIZE: 1 << 31}), "window is too large"),
        (settings({MAX_FRAME_SIZE: 100}), "out of bounds"),
        (frame(PING, 0, 0, b"short"), "wrong length"),
        (frame(RST_STREAM, 0, 1, b"abc"), "wrong length"),
        (frame(frames.GOAWAY, 0, 0, b"abc"), "wrong length"),
        (window_update(0, 0), "by nothing"),
        (window_update(0, frames.LARGEST_WINDOW), "too large"),
        (frame(DATA, 0, 1, bytes(16_385)), "larger than agreed"),
    ],
)
async def test_what_a_server_must_not_say_ends_the_connection(said: bytes, why: str) -> None:
    peer = Peer()
    call = peer.call()

    peer.say(said)

    error = await wrong(call)
    assert isinstance(error, EtcdGoneError)
    assert why in str(error)
    assert peer.transport.is_aborted
    assert not peer.client.is_usable


@pytest.mark.parametrize("said", [b"HTTP/1.1 400 Bad Request\r\n\r\n", frame(PING, 0, 0, bytes(8))])
async def test_who_does_not_greet_speaks_something_else(said: bytes) -> None:
    peer = Peer(greets=False)

    peer.say(said)

    assert "does not speak HTTP/2" in (await peer.client.greeted or "")
