"""Sizes of a terminal, as clients send them: JSON objects, one after the other."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Annotated

import msgspec

_LONGEST = 1024
_Cells = Annotated[int, msgspec.Meta(ge=0, lt=1 << 16)]


class TerminalSize(msgspec.Struct, frozen=True, rename="pascal"):
    """Columns and rows."""

    width: _Cells
    height: _Cells


async def sizes(read: Callable[[], Awaitable[bytes]]) -> AsyncIterator[TerminalSize]:
    """Yield every size until the end, or until something else comes."""
    rest = b""
    while (data := await read()) and len(rest) < _LONGEST:
        *objects, rest = (rest + data).split(b"}")
        for each in objects:
            try:
                yield msgspec.json.decode(each + b"}", type=TerminalSize)
            except msgspec.DecodeError:
                return
