import struct
import zlib

import pytest

from kwokctl.kubelet.streams.spdy.header_blocks import DICTIONARY
from kwokctl.kubelet.streams.spdy.protocol import (
    SpdyEvent,
    SpdyProtocol,
    StreamData,
    StreamOpened,
    StreamReset,
)
from kwokctl.kubelet.streams.spdy.spdy_frames import ResetStatus, SpdyError
from tests.support import spdy_client
from tests.support.spdy_client import FIN, UNIDIRECTIONAL, Frame, SpdyClient

SYN_REPLY, RST_STREAM, PING, GOAWAY = 2, 3, 6, 7
ERROR = {"streamtype": "error"}


class Pair:
    """A client and the protocol that it talks to."""

    def __init__(self) -> None:
        self.client, self.server = SpdyClient(), SpdyProtocol()

    def send(self, *data: bytes) -> list[SpdyEvent]:
        return list(self.server.receive(b"".join(data)))

    def open(self, stream: int, flags: int = 0) -> list[SpdyEvent]:
        return self.send(self.client.open(stream, ERROR, flags))

    def answers(self) -> list[Frame]:
        return self.client.frames(self.server.take_output())


@pytest.fixture
def pair() -> Pair:
    return Pair()


def test_the_dictionary_is_that_of_the_specification() -> None:
    # The length, and the checksum with which zlib tells the other side which dictionary it needs.
    assert len(DICTIONARY) == 1423
    assert zlib.adler32(DICTIONARY) == 0xE3C6A7C2


def test_a_stream_is_opened_with_headers(pair: Pair) -> None:
    headers = {"streamtype": "data", "port": "8080"}

    events = pair.send(pair.client.open(1, headers), pair.client.open(3, headers))

    assert events == [
        StreamOpened(1, tuple(headers.items())),
        StreamOpened(3, tuple(headers.items())),
    ]


def test_frames_may_come_byte_by_byte(pair: Pair) -> None:
    sent = pair.client.open(1, ERROR) + spdy_client.data(1, b"hello", FIN) + spdy_client.ping(7)

    events = [event for byte in sent for event in pair.server.receive(bytes([byte]))]

    assert events[0] == StreamOpened(1, (("streamtype", "error"),))
    assert b"".join(e.data for e in events if isinstance(e, StreamData)) == b"hello"
    assert events[-1] == StreamData(1, b"o", is_last=True)
    assert [frame.kind for frame in pair.answers()] == [PING]


def test_a_long_frame_is_handed_on_while_it_comes(pair: Pair) -> None:
    pair.open(1)
    frame = spdy_client.data(1, bytes(1_000_000), FIN)

    first, rest = pair.send(frame[:1000]), pair.send(frame[1000:])

    assert first == [StreamData(1, bytes(992), is_last=False)]
    assert rest == [StreamData(1, bytes(1_000_000 - 992), is_last=True)]


def test_values_of_a_header_are_parted_by_zeros(pair: Pair) -> None:
    assert pair.send(pair.client.open(1, {"a": "x\0y"})) == [
        StreamOpened(1, (("a", "x"), ("a", "y")))
    ]


def test_a_stream_is_accepted_and_written_to(pair: Pair) -> None:
    pair.open(1)

    pair.server.accept(1)
    pair.server.send(1, b"out")
    pair.server.send(1, b"", is_last=True)
    reply, data, end = pair.answers()

    assert (reply.kind, reply.stream, pair.client.headers(reply.payload[4:])) == (2, 1, bytes(4))
    assert data == Frame(None, 1, 0, b"out")
    assert end == Frame(None, 1, FIN, b"")


def test_the_sides_of_a_stream_end_one_by_one(pair: Pair) -> None:
    pair.open(1)

    assert pair.send(spdy_client.data(1, b"", FIN)) == [StreamData(1, b"", is_last=True)]
    pair.server.send(1, b"more")
    pair.server.send(1, b"last", is_last=True)
    pair.server.send(1, b"too late")

    assert [frame.payload for frame in pair.answers()] == [b"more", b"last"]


def test_a_stream_opened_with_its_end_has_no_input(pair: Pair) -> None:
    opened, ended = pair.open(1, FIN)

    assert (opened, ended) == (
        StreamOpened(1, (("streamtype", "error"),)),
        StreamData(1, b"", is_last=True),
    )


def test_a_stream_of_one_direction_is_not_written_to(pair: Pair) -> None:
    pair.open(1, UNIDIRECTIONAL)

    pair.server.send(1, b"nobody reads this")

    assert pair.answers() == []


def test_input_after_its_end_resets_the_stream(pair: Pair) -> None:
    pair.open(1, FIN)

    assert pair.send(spdy_client.data(1, b"more")) == [StreamReset(1)]
    (frame,) = pair.answers()
    assert frame.payload == struct.pack(">II", 1, ResetStatus.STREAM_ALREADY_CLOSED)


def test_a_reset_ends_both_sides(pair: Pair) -> None:
    pair.open(1)

    assert pair.send(spdy_client.reset(1)) == [StreamReset(1)]
    pair.server.send(1, b"late")
    pair.server.reset(1, ResetStatus.CANCEL)

    assert pair.answers() == []


def test_what_comes_for_a_stream_that_was_reset_is_dropped(pair: Pair) -> None:
    pair.open(1)
    pair.server.reset(1, ResetStatus.CANCEL)

    assert pair.send(spdy_client.data(1, b"on its way"), spdy_client.reset(1)) == []
    assert [frame.kind for frame in pair.answers()] == [RST_STREAM]


def test_pings_are_answered_and_our_own_answers_are_not(pair: Pair) -> None:
    pair.send(spdy_client.ping(1), spdy_client.ping(2))

    assert [(frame.kind, frame.stream) for frame in pair.answers()] == [(PING, 1)]


def test_our_pings_have_even_numbers(pair: Pair) -> None:
    pair.server.ping()
    pair.server.ping()

    assert [(frame.kind, frame.stream) for frame in pair.answers()] == [(PING, 2), (PING, 4)]


def test_what_means_nothing_to_us_is_read_and_forgotten(pair: Pair) -> None:
    settings = spdy_client.control(4, struct.pack(">III", 1, 4, 100))
    window = spdy_client.control(9, struct.pack(">II", 0, 1000))
    credential = spdy_client.control(10, b"whatever")

    assert pair.send(settings, window, credential, spdy_client.control(7, bytes(8))) == []
    assert pair.answers() == []


def test_headers_between_count_for_the_compression(pair: Pair) -> None:
    pair.open(1)
    more = spdy_client.control(8, struct.pack(">I", 1) + pair.client.block({"some": "more"}), FIN)

    assert pair.send(more) == [StreamData(1, b"", is_last=True)]
    assert pair.send(pair.client.open(3, {"some": "more"})) == [
        StreamOpened(3, (("some", "more"),))
    ]


def test_too_many_streams_are_refused_one_by_one(pair: Pair) -> None:
    for number in range(1000):
        pair.open(2 * number + 1)

    assert pair.open(2001) == []
    (frame,) = pair.answers()
    assert frame.payload == struct.pack(">II", 2001, ResetStatus.REFUSED_STREAM)
    pair.send(spdy_client.reset(1))
    assert len(pair.open(2003)) == 1


def _plain(*fields: bytes, count: int = 1) -> bytes:
    return struct.pack(">I", count) + b"".join(struct.pack(">I", len(f)) + f for f in fields)


@pytest.mark.parametrize(
    "frame",
    [
        spdy_client.control(1, bytes(10), version=2),
        spdy_client.control(1, bytes(9)),
        spdy_client.control(1, bytes(10)),
        spdy_client.control(1, struct.pack(">IIH", 1, 0, 0) + b"not compressed"),
        spdy_client.control(2, struct.pack(">I", 1)),
        spdy_client.control(3, bytes(7)),
        spdy_client.control(3, bytes(8)),
        spdy_client.control(3, struct.pack(">III", 1, 5, 0)),
        spdy_client.control(4, b""),
        spdy_client.control(4, struct.pack(">II", 1, 4)),
        spdy_client.control(6, bytes(4)),
        spdy_client.control(6, bytes(5)),
        spdy_client.control(7, bytes(4)),
        spdy_client.control(8, bytes(3)),
        spdy_client.control(9, bytes(7)),
        struct.pack(">HHI", 0x8003, 1, 0xFFFFFF),
        spdy_client.data(0, b"x"),
        spdy_client.data(9, b"of no stream"),
    ],
)  # fmt: skip
def test_a_malformed_frame_ends_the_connection(pair: Pair, frame: bytes) -> None:
    with pytest.raises(SpdyError):
        pair.send(frame)

    assert [answer.kind for answer in pair.answers()] == [GOAWAY]


@pytest.mark.parametrize(
    "block",
    [
        b"",
        _plain(b"a"),
        _plain(b"a", b"1", b"b"),
        _plain(b"A", b"1"),
        _plain(b"", b"1"),
        _plain(b"a", b"\xff"),
        _plain(b"a", b"1", b"a", b"2", count=2),
        _plain(count=101),
        _plain(b"a", bytes(1 << 20)),
        struct.pack(">II", 1, 0xFFFFFFFF) + b"a",
    ],
)  # fmt: skip
def test_malformed_headers_end_the_connection(pair: Pair, block: bytes) -> None:
    opening = struct.pack(">IIH", 1, 0, 0) + pair.client.compress(block)

    with pytest.raises(SpdyError):
        pair.send(spdy_client.control(1, opening))


@pytest.mark.parametrize("stream", [2, 4, 3, 5])
def test_a_stream_has_a_new_odd_number(pair: Pair, stream: int) -> None:
    pair.open(5)

    with pytest.raises(SpdyError, match=f"number {stream}"):
        pair.open(stream)


def test_data_longer_than_a_frame_takes_several(pair: Pair) -> None:
    pair.open(1)

    pair.server.send(1, bytes((1 << 24) + 5), is_last=True)

    assert [(len(f.payload), f.flags) for f in pair.answers()] == [((1 << 24) - 1, 0), (6, FIN)]


def test_ten_thousand_streams_one_after_the_other_leave_nothing(pair: Pair) -> None:
    for number in range(10_000):
        stream = 2 * number + 1
        pair.send(pair.client.open(stream, ERROR), spdy_client.data(stream, b"", FIN))
        pair.server.accept(stream)
        pair.server.send(stream, b"", is_last=True)
        pair.server.take_output()

    assert len(pair.open(20_001)) == 1
    assert len(pair.server._streams) == 1
