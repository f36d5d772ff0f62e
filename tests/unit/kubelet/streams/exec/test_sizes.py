""""""

from collections.abc import Sequence

import pytest

from kwokctl.kubelet.streams.exec import TerminalSize, sizes


async def _read(pieces: Sequence[bytes]) -> list[TerminalSize]:
    left = iter((*pieces, b""))

    async def read() -> bytes:
        return next(left)

    return [size async for size in sizes(read)]


async def test_sizes_may_come_in_any_pieces() -> None:
    pieces = [b'{"Width":80,"Hei', b'ght":24}\n{"Width":1,"Height":2}{"W', b'idth":3,"Height":4}']

    assert await _read(pieces) == [TerminalSize(80, 24), TerminalSize(1, 2), TerminalSize(3, 4)]


@pytest.mark.parametrize(
    "wrong",
    [b"}", b'{"Width":70000,"Height":1}', b'{"Width":-1,"Height":1}', b'{"Width":"1"}', b"[1]}"],
)
async def test_what_is_no_size_ends_them(wrong: bytes) -> None:
    assert await _read([b'{"Width":80,"Height":24}', wrong, b'{"Width":1,"Height":1}']) == [
        TerminalSize(80, 24)
    ]


async def test_what_never_becomes_a_size_is_not_kept() -> None:
    assert await _read([bytes(2000), b'{"Width":80,"Height":24}']) == []
