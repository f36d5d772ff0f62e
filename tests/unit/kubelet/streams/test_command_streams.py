""""""

import asyncio

import pytest

from kwokctl.kubelet.streams.command_streams import SpdyStreams, StreamName, StreamOptions
from kwokctl.kubelet.streams.connections.spdy_connection import SpdyConnection
from kwokctl.tasks import beside
from tests.support import virtual_time
from tests.support.memory_wire import MemoryWire
from tests.support.spdy_client import SpdyClient

ALL = StreamOptions(stdin=True, stdout=True, stderr=False, tty=True)


def _opened(*names: str) -> list[bytes]:
    client = SpdyClient()
    return [client.open(2 * i + 1, {"streamtype": name}) for i, name in enumerate(names)]


@pytest.mark.parametrize(
    ("protocol", "names"),
    [
        ("v4.channel.k8s.io", ["error", "stdin", "stdout", "resize"]),
        ("v3.channel.k8s.io", ["resize", "stdout", "stdin", "error"]),
        ("v2.channel.k8s.io", ["error", "stdin", "stdout"]),
        ("channel.k8s.io", ["error", "stdin", "stdout"]),
    ],
)  # fmt: skip
async def test_all_streams_are_there_when_the_client_has_opened_them(
    protocol: str, names: list[str]
) -> None:
    wire = MemoryWire()
    streams = SpdyStreams(SpdyConnection(wire), protocol, ALL)
    wire.send(*_opened(*names))

    async with beside(streams.run()):
        await streams.opened()

    assert streams.has_statuses == (protocol == "v4.channel.k8s.io")


def test_a_client_that_does_not_open_them_is_not_waited_for() -> None:
    async def story() -> None:
        wire = MemoryWire()
        streams = SpdyStreams(SpdyConnection(wire), "v4.channel.k8s.io", ALL)
        wire.send(*_opened("error", "stdin"))

        async with beside(streams.run()):
            with pytest.raises(TimeoutError):
                await streams.opened()

        assert asyncio.get_running_loop().time() == 30

    virtual_time.run(story())


async def test_a_stream_that_nobody_asked_for_has_no_data() -> None:
    streams = SpdyStreams(SpdyConnection(MemoryWire()), "v4.channel.k8s.io", ALL)

    await streams.write(StreamName.STDERR, b"nowhere")
    streams.drop(StreamName.STDERR)

    assert await streams.read(StreamName.STDERR) == b""
