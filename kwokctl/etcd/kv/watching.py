"""Watches a range of keys, through as many connections as it takes. Service Watch of rpc.proto."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from kwokctl.errors import ConflictError, EtcdGoneError, EtcdRefusedError
from kwokctl.etcd.grpc.channel import Channel
from kwokctl.etcd.kv import request_encoding
from kwokctl.etcd.kv.answer_decoding import answer_by, read_watch
from kwokctl.etcd.kv.operations import KeyChange, WatchAnswer

_WATCH = "/etcdserverpb.Watch/Watch"
_WITHIN = 30.0
_AWAY_AT_MOST = 10.0
"""Seconds for which etcd may be away, as when it is restarted."""
_PAUSE = 0.05
_OUT_OF_RANGE, _CANCELLED = 11, 1
"""Of gRPC's statuses."""


async def followed(
    channel: Channel, start: bytes, end: bytes, *, since: int
) -> AsyncGenerator[list[KeyChange], None]:
    """Yield changes from a revision on; what it raises is said at `Kv.watch`."""
    loop = asyncio.get_running_loop()
    away_since: float | None = None
    while True:
        try:
            async with aclosing(_once(channel, start, end, since)) as batches:
                async for changes in batches:
                    away_since = None
                    if changes:
                        since = changes[-1].item.mod_revision + 1
                        yield changes
        except EtcdGoneError:
            away_since = away_since or loop.time()
            if loop.time() - away_since > _AWAY_AT_MOST:
                raise
            await asyncio.sleep(_PAUSE)


async def _once(
    channel: Channel, start: bytes, end: bytes, since: int
) -> AsyncGenerator[list[KeyChange], None]:
    """Yield changes as long as one connection lasts; EtcdGoneError at its end."""
    request = request_encoding.watch_request(start, end, since=since)
    async with aclosing(channel.stream(_WATCH, request, within=_WITHIN)) as answers:
        async for data in answers:
            answer = answer_by(read_watch, data)
            _check(answer, since)
            yield answer.changes
    raise EtcdGoneError("etcd has ended a watch", hint="begin again")


def _check(answer: WatchAnswer, since: int) -> None:
    """Raise an error for a watch that cannot go on."""
    if answer.compacted:
        raise EtcdRefusedError(
            f"etcd refused: what was written from revision {since} on has been compacted",
            code=_OUT_OF_RANGE,
        )
    if answer.refusal is not None:
        why = answer.refusal or "the watch was ended"
        raise EtcdRefusedError(f"etcd refused: {why}", code=_CANCELLED)
    if answer.revision + 1 < since:
        raise ConflictError(
            f"etcd is at revision {answer.revision}, before {since} from which on it is watched: "
            "it was restored",
            hint="begin again",
        )
