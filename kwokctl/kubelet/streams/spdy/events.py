"""The events that a SPDY connection receives."""

import msgspec

from kwokctl.kubelet.streams.spdy.header_blocks import Headers


class StreamOpened(msgspec.Struct, frozen=True, gc=False):
    """A stream was opened."""

    stream: int
    headers: Headers


class StreamData(msgspec.Struct, frozen=True, gc=False):
    """Data of a stream came; none, perhaps, if it is the last."""

    stream: int
    data: bytes
    is_last: bool


class StreamReset(msgspec.Struct, frozen=True, gc=False):
    """A stream was ended at once, both ways."""

    stream: int


SpdyEvent = StreamOpened | StreamData | StreamReset
