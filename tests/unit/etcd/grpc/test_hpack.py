import pytest

from kwokctl.etcd.grpc import hpack
from kwokctl.etcd.grpc.http2_frames import PeerError


@pytest.mark.parametrize(
    ("packed", "text"),
    [
        # RFC 7541, appendix C.4 and C.6.
        ("f1e3c2e5f23a6ba0ab90f4ff", b"www.example.com"),
        ("a8eb10649cbf", b"no-cache"),
        ("25a849e95ba97d7f", b"custom-key"),
        ("25a849e95bb8e8b4bf", b"custom-value"),
        ("6402", b"302"),
        ("aec3771a4b", b"private"),
        ("d07abe941054d444a8200595040b8166e082a62d1bff", b"Mon, 21 Oct 2013 20:13:21 GMT"),
        ("9d29ad171863c78f0b97c8e9ae82ae43d3", b"https://www.example.com"),
        ("640eff", b"307"),
        ("9bd9ab", b"gzip"),
        (
            "94e7821dd7f2e6c7b335dfdfcd5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007",
            b"foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1",
        ),
        # The longest codes are of 30 bits.
        ("fffffff3", b"\n"),
        ("fffffff7", b"\r"),
        ("fffffffb", b"\x16"),
    ],
)
def test_huffman_code_is_read_as_the_rfc_writes_it(packed: str, text: bytes) -> None:
    value = bytes.fromhex(packed)
    block = b"\x00\x01x" + bytes((0x80 | len(value),)) + value

    assert hpack.decode(block) == [(b"x", text)]


def test_the_ways_to_write_a_header_without_a_table_are_read() -> None:
    block = (
        b"\x20"  # the table shall be of size 0
        b"\x88"  # :status 200
        b"\x8d"  # :status 404
        b"\x5f\x01a"  # content-type, to be kept
        b"\x0f\x10\x01b"  # content-type, not to be kept
        b"\x1f\x10\x01c"  # content-type, never to be kept
        b"\x40\x01n\x01d"
        b"\x10\x01n\x01e"
        b"\x82"  # :method, which is ignored
    )

    assert hpack.decode(block) == [
        (b":status", b"200"),
        (b":status", b"404"),
        (b"content-type", b"a"),
        (b"content-type", b"b"),
        (b"content-type", b"c"),
        (b"n", b"d"),
        (b"n", b"e"),
        (b"", b""),
    ]


def test_what_is_encoded_is_decoded() -> None:
    headers = [(b":path", b"/etcdserverpb.KV/Txn"), (b"te", b"trailers"), (b"empty", b"")]
    headers += [(b"n" * size, b"v" * size) for size in (126, 127, 128, 254, 255, 5000)]

    assert hpack.decode(hpack.encode(headers)) == headers


def test_a_long_text_is_read() -> None:
    assert hpack.decode(b"\x00\x01x\x7f\xd9\x07" + b"y" * 1112) == [(b"x", b"y" * 1112)]


@pytest.mark.parametrize(
    ("block", "why"),
    [
        (b"\xbe", "entry 62"),
        (b"\x80", "entry 0"),
        (b"\x7f\x00\x01x", "entry 63"),
        (b"\x3f\xe1\x1f", "asks for a table"),
        (b"\x00\x05abc", "truncated"),
        (b"\x00\x01x", "truncated"),
        (b"\x00", "truncated"),
        (b"\x00\x01x\x7f", "truncated"),
        (b"\x00\x01x\x7f\xff\xff\xff\xff\xff", "too large"),
        (b"\x00\x01x\x84\xff\xff\xff\xff", "end-of-string symbol"),
        (b"\x00\x01x\x81\x18", "padded"),
        (b"\x00\x01x\x82\x1f\xff", "padded"),
    ],
)
def test_what_cannot_be_a_header_block_is_refused(block: bytes, why: str) -> None:
    with pytest.raises(PeerError, match=why):
        hpack.decode(block)
