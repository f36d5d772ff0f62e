"""Streams whose answers have come to their ends: each can carry another request."""

from kwokctl.kube.transport.stream import Stream

_MOST = 4


class KeptStreams:
    """A few streams, the one that was kept last first."""

    def __init__(self, *, longest: float) -> None:
        """Keep each for `longest` seconds."""
        self._longest = longest
        self._streams: list[tuple[Stream, float]] = []

    def keep(self, stream: Stream, now: float) -> None:
        """Keep a stream for another request, or close it if it cannot carry one."""
        if not stream.is_reusable or len(self._streams) == _MOST:
            stream.close()
            return
        stream.rest()
        self._streams.append((stream, now))

    def take(self, now: float) -> Stream | None:
        """Hand out a stream that is still open; None if there is none."""
        while self._streams:
            stream, since = self._streams.pop()
            if stream.is_open and now - since < self._longest:
                return stream
            stream.close()
        return None

    def clear(self) -> list[Stream]:
        """Hand out all of them."""
        streams, self._streams = self._streams, []
        return [stream for stream, _ in streams]
