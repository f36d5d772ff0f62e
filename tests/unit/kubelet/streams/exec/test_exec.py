import asyncio
import os

import pytest

from tests.support.exec_clients import (
    ERROR,
    RESIZE,
    STDERR,
    STDIN,
    STDOUT,
    SUCCESS,
    V4,
    V5,
    exit_code,
    sh,
    spdy,
    websocket,
)
from tests.support.stream_peers import (
    SpdyPeer,
    WebSocketPeer,
    asking,
    exec_path,
    spdy_headers,
    status,
    websocket_headers,
)


async def test_output_errors_and_exit_code_come_over_spdy(port: int) -> None:
    async with spdy(port, sh("echo out; echo err >&2; exit 7"), "stdout", "stderr") as command:
        out, err, reported = await command.ended()

    assert (out, err) == (b"out\n", b"err\n")
    assert reported == {
        "metadata": {},
        "status": "Failure",
        "reason": "NonZeroExitCode",
        "message": "command terminated with non-zero exit code: exit status 7",
        "details": {"causes": [{"reason": "ExitCode", "message": "7"}]},
    }
    assert command.peer.says_goodbye


async def test_output_errors_and_exit_code_come_over_websocket(port: int) -> None:
    async with websocket(port, sh("echo out; echo err >&2; exit 7"), "stdout", "stderr") as peer:
        await peer.until_closed()

    assert (peer.received[STDOUT], peer.received[STDERR]) == (b"out\n", b"err\n")
    assert exit_code(status(peer.received[ERROR])) == "7"
    assert peer.close_code == 1000


async def test_the_end_of_input_reaches_the_command_over_spdy(port: int) -> None:
    async with spdy(port, ["cat"], "stdin", "stdout") as command:
        await command.peer.send(command.streams["stdin"], b"hello")
        await command.peer.end(command.streams["stdin"])

        assert await command.ended() == (b"hello", b"", SUCCESS)


async def test_the_end_of_input_reaches_the_command_over_websocket(port: int) -> None:
    async with websocket(port, ["cat"], "stdin", "stdout") as peer:
        await peer.send(bytes((STDIN,)) + b"hello")
        await peer.send(bytes((255, STDIN)))
        await peer.until_closed()

    assert peer.received[STDOUT] == b"hello"
    assert status(peer.received[ERROR]) == SUCCESS


async def test_only_the_fifth_protocol_knows_the_end_of_input(port: int) -> None:
    async with websocket(port, ["cat"], "stdin", "stdout", protocol=V4) as peer:
        await peer.send(bytes((255, STDIN)))
        await peer.send(bytes((STDIN,)) + b"still open")

        await peer.until(STDOUT, b"still open")


async def test_a_message_may_come_in_parts(port: int) -> None:
    async with websocket(port, ["cat"], "stdin", "stdout") as peer:
        await peer.send(b"", fin=False)
        await peer.go_on(bytes((STDIN,)) + b"one ", fin=False)
        await peer.go_on(b"message")

        await peer.until(STDOUT, b"one message")


async def test_texts_in_base64_are_understood_and_sent(port: int) -> None:
    path = exec_path(["head", "-c", "5"], "stdin", "stdout")
    async with asking(port, path, websocket_headers("v4.base64.channel.k8s.io")) as wire:
        peer = WebSocketPeer(wire)
        await peer.send(b"0aGVs", as_text=True, fin=False)
        await peer.go_on(b"bG8=")
        await peer.until_closed()

    assert peer.texts[0] == "1"
    assert "1aGVsbG8=" in peer.texts


async def test_what_is_no_base64_ends_the_command(port: int) -> None:
    path = exec_path(["cat"], "stdin", "stdout")
    async with asking(port, path, websocket_headers("v4.base64.channel.k8s.io")) as wire:
        peer = WebSocketPeer(wire)
        await peer.send(b"0a===", as_text=True)
        await peer.until_closed()


async def test_old_protocols_tell_the_end_as_a_text(port: int) -> None:
    async with spdy(port, sh("exit 3"), "stdout", protocol="v2.channel.k8s.io") as command:
        reported = await command.peer.until_end_of(command.streams["error"])

    assert reported == b"command terminated with non-zero exit code: exit status 3"


async def test_old_protocols_say_nothing_of_success(port: int) -> None:
    async with asking(port, exec_path(["true"], "stdout"), websocket_headers()) as wire:
        peer = WebSocketPeer(wire)
        await peer.until_closed()

    assert "sec-websocket-protocol" not in wire.headers
    assert peer.received == {STDOUT: b""}


async def test_a_client_of_websocket_is_told_at_once_that_the_command_runs(port: int) -> None:
    async with websocket(port, ["sleep", "60"], "stdout") as peer:
        assert await peer.more()

        assert peer.received == {STDOUT: b""}


async def test_megabytes_pass_both_ways(port: int) -> None:
    data = os.urandom(3_000_000)
    async with spdy(port, ["cat"], "stdin", "stdout") as command:

        async def send() -> None:
            for begin in range(0, len(data), 32_768):
                piece = data[begin : begin + 32_768]
                await command.peer.send(command.streams["stdin"], piece)
            await command.peer.end(command.streams["stdin"])

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(send())
            out, _, reported = await command.ended()

    assert out == data
    assert reported == SUCCESS


async def test_a_command_that_reads_no_more_ends_as_it_does(port: int) -> None:
    async with websocket(port, ["head", "-c", "3"], "stdin", "stdout") as peer:
        await peer.send(bytes((STDIN,)) + b"abc" * 500_000)
        await peer.until_closed()

    assert peer.received[STDOUT] == b"abc"
    assert status(peer.received[ERROR]) == SUCCESS


async def test_a_command_that_ignores_its_input_can_still_be_resized_and_ended(port: int) -> None:
    script = (
        "exec 0<&-; trap 'echo resized; exit 0' WINCH; echo ready; while :; do sleep 0.05; done"
    )
    async with websocket(port, sh(script), "stdin", "stdout", tty=True) as peer:
        await peer.until(STDOUT, b"ready")
        await peer.send(bytes((RESIZE,)) + b'{"Width":80,"Height":25}')
        await peer.until_closed()

    assert b"resized" in peer.received[STDOUT]


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/exec/default/other/main?command=true&output=1", 404),
        ("/exec/default/web/none?command=true&output=1", 404),
        ("/exec/default/web/another-uid/main?command=true&output=1", 404),
        ("/exec/default/web/u-1/main?command=true&output=1", 101),
        ("/exec/default/web?command=true&output=1", 404),
        ("/exec/default/web/main?command=true", 400),
        ("/exec/default/web/main?command=true&error=1&tty=1", 400),
        ("/exec/default/web/main?output=1", 400),
        ("/exec/default/web/main?output=1&command=a%00b", 400),
    ],
)
async def test_the_path_and_its_parameters_are_checked(port: int, path: str, code: int) -> None:
    async with asking(port, path, spdy_headers(V4), "POST") as wire:
        assert wire.status == code


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ([], 400),
        (spdy_headers(), 400),
        (spdy_headers("v9.channel.k8s.io"), 403),
        (spdy_headers("v9.channel.k8s.io", "v3.channel.k8s.io, v4.channel.k8s.io"), 101),
        (websocket_headers("v9.channel.k8s.io"), 403),
        (websocket_headers("v9.channel.k8s.io", "v4.channel.k8s.io"), 101),
        (websocket_headers(V5)[:2], 400),
    ],
)
async def test_the_protocol_is_negotiated(
    port: int, headers: list[tuple[str, str]], code: int
) -> None:
    async with asking(port, exec_path(["true"], "stdout"), headers) as wire:
        assert wire.status == code
        chosen = wire.headers.get("x-stream-protocol-version")
        assert chosen in {None, "v3.channel.k8s.io"}


async def test_unexpected_streams_are_reset(port: int) -> None:
    async with asking(port, exec_path(["true"], "stdout"), spdy_headers(V4)) as wire:
        peer = SpdyPeer(wire)
        error = await peer.open(streamtype="error")
        again, unknown = await peer.open(streamtype="error"), await peer.open(streamtype="sound")
        stdout = await peer.open(streamtype="stdout")
        await peer.until_end_of(error)
        await peer.until_end_of(stdout)

    assert {again, unknown} <= peer.was_reset
