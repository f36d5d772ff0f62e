"""What a server says when it refuses, and what it must not say."""

import pytest

from kwokctl.errors import EtcdGoneError, EtcdRefusedError
from kwokctl.etcd.grpc import hpack, http2_frames
from kwokctl.etcd.grpc.http2_frames import (
    CANCEL,
    CONTINUATION,
    DATA,
    END_HEADERS,
    END_STREAM,
    HEADERS,
    INITIAL_WINDOW_SIZE,
    MAX_FRAME_SIZE,
    PADDED,
    PING,
    PRIORITIZED,
    PUSH_PROMISE,
    RST_STREAM,
    SETTINGS,
    frame,
    rst_stream,
    settings,
    window_update,
)
from tests.support.http2_peer import BEGIN, END, Peer, data, headers, message, refusal, wrong


async def test_a_refusal_contains_the_reason() -> None:
    peer = Peer()
    call = peer.call()

    peer.say(refusal(1, 11, b"etcdserver: 100%25 compacted %e2%82%ac"))

    error = await wrong(call)
    assert isinstance(error, EtcdRefusedError)
    assert error.code == 11
    assert str(error) == "etcd refused: etcdserver: 100% compacted €"
    assert not error.is_full


async def test_a_full_database_is_distinguished_from_a_message_that_is_too_large() -> None:
    peer = Peer()
    full, large = peer.call(), peer.call()

    peer.say(refusal(1, 8, b"etcdserver: mvcc: database space exceeded"))
    peer.say(refusal(3, 8, b"grpc: received message larger than max"))

    refusals = [await wrong(full), await wrong(large)]
    assert [isinstance(e, EtcdRefusedError) and e.is_full for e in refusals] == [True, False]
    assert [isinstance(e, EtcdRefusedError) and e.is_final for e in refusals] == [False, True]


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
        (frame(HEADERS, 0, 1, BEGIN) + frame(PING, 0, 0, bytes(8)), "has no continuation"),
        (frame(HEADERS, 0, 1, BEGIN) + frame(PING, 0, 1, bytes(8)), "has no continuation"),
        (frame(HEADERS, 0, 1, BEGIN) + frame(CONTINUATION, 0, 3, b""), "has no continuation"),
        (
            frame(HEADERS, 0, 1, bytes(16_384)) + frame(CONTINUATION, 0, 1, bytes(16_384)) * 5,
            "too long",
        ),
        (frame(CONTINUATION, 0, 1, b""), "an unexpected frame"),
        (frame(PUSH_PROMISE, 0, 1, b""), "an unexpected frame"),
        (frame(SETTINGS, 0, 1, b""), "names a stream"),
        (frame(SETTINGS, 0, 0, b"abc"), "settings are truncated"),
        (settings({INITIAL_WINDOW_SIZE: 1 << 31}), "window is too large"),
        (settings({MAX_FRAME_SIZE: 100}), "out of bounds"),
        (settings({MAX_FRAME_SIZE: 1 << 24}), "out of bounds"),
        (frame(PING, 0, 0, b"short"), "wrong length"),
        (frame(RST_STREAM, 0, 1, b"abc"), "wrong length"),
        (frame(RST_STREAM, 0, 1, b"abcde"), "wrong length"),
        (frame(http2_frames.GOAWAY, 0, 0, b"abc"), "wrong length"),
        (window_update(0, 0), "by zero bytes"),
        (window_update(0, http2_frames.LARGEST_WINDOW), "too large"),
        (frame(DATA, 0, 1, bytes(16_385)), "larger than agreed"),
    ],
)
async def test_a_frame_that_a_server_must_not_send_ends_the_connection(
    said: bytes, why: str
) -> None:
    peer = Peer()
    call = peer.call()

    peer.say(said)

    error = await wrong(call)
    assert isinstance(error, EtcdGoneError)
    assert why in str(error)
    assert peer.transport.is_aborted
    assert not peer.client.is_usable


@pytest.mark.parametrize("said", [b"HTTP/1.1 400 Bad Request\r\n\r\n", frame(PING, 0, 0, bytes(8))])
async def test_a_peer_without_the_http2_preface_is_refused(said: bytes) -> None:
    peer = Peer(greets=False)

    peer.say(said)

    assert "does not speak HTTP/2" in (await peer.client.greeted or "")
