import asyncio
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from kwokctl.json_value import Json
from tests.support.eventually import eventually
from tests.support.stream_peers import (
    SpdyPeer,
    WebSocketPeer,
    asking,
    exec_path,
    spdy_headers,
    status,
    websocket_headers,
)
from tests.support.stream_server import Pods, serving

V4, V5 = "v4.channel.k8s.io", "v5.channel.k8s.io"
STDIN, STDOUT, STDERR, ERROR, RESIZE = range(5)
SUCCESS = {"metadata": {}, "status": "Success"}


class SpdyCommand:
    """A command that runs for a client of SPDY."""

    def __init__(self, peer: SpdyPeer, streams: dict[str, int]) -> None:
        self.peer, self.streams = peer, streams

    async def ended(self) -> tuple[bytes, bytes, Json]:
        for stream in self.streams.values():
            if stream != self.streams.get("stdin"):
                await self.peer.until_end_of(stream)
        out, err, told = (self.received(name) for name in ("stdout", "stderr", "error"))
        return out, err, status(told)

    def received(self, name: str) -> bytes:
        return self.peer.received.get(self.streams.get(name, -1), b"")


@asynccontextmanager
async def spdy(
    port: int, command: Sequence[str], *names: str, tty: bool = False, protocol: str = V4
) -> AsyncIterator[SpdyCommand]:
    path = exec_path(command, *names, tty=tty)
    async with asking(port, path, spdy_headers(protocol), "POST") as wire:
        assert wire.status == 101, wire.body
        peer = SpdyPeer(wire)
        opened = ("error", *names, *(["resize"] if tty else []))
        yield SpdyCommand(peer, {name: await peer.open(streamtype=name) for name in opened})


@asynccontextmanager
async def websocket(
    port: int, command: Sequence[str], *names: str, tty: bool = False, protocol: str = V5
) -> AsyncIterator[WebSocketPeer]:
    path = exec_path(command, *names, tty=tty)
    async with asking(port, path, websocket_headers(protocol)) as wire:
        assert wire.status == 101, wire.body
        assert wire.headers["sec-websocket-protocol"] == protocol
        yield WebSocketPeer(wire)


def sh(script: str) -> list[str]:
    return ["sh", "-c", script]


def exit_code(told: Json) -> str:
    code: str = told["details"]["causes"][0]["message"]
    return code


@pytest.fixture
async def port() -> AsyncIterator[int]:
    async with serving() as found:
        yield found


async def test_output_errors_and_exit_code_come_over_spdy(port: int) -> None:
    async with spdy(port, sh("echo out; echo err >&2; exit 7"), "stdout", "stderr") as command:
        out, err, told = await command.ended()

    assert (out, err) == (b"out\n", b"err\n")
    assert told == {
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
        told = await command.peer.until_end_of(command.streams["error"])

    assert told == b"command terminated with non-zero exit code: exit status 3"


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
            out, _, told = await command.ended()

    assert out == data
    assert told == SUCCESS


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


async def test_a_terminal_has_the_size_that_the_client_sends(port: int) -> None:
    async with spdy(port, sh("read x; stty size; echo $TERM"), "stdin", "stdout", tty=True) as run:
        await run.peer.send(run.streams["resize"], b'{"Width":132,"Hei')
        await run.peer.send(run.streams["resize"], b'ght":43}\n')
        await run.peer.send(run.streams["stdin"], b"go\n")
        out, _, told = await run.ended()

    assert out == b"go\r\n43 132\r\nxterm\r\n"
    assert told == SUCCESS


async def test_an_interrupt_typed_at_the_terminal_reaches_the_command(port: int) -> None:
    script = "trap 'echo stopped; exit 9' INT; echo ready; while :; do sleep 0.05; done"
    async with websocket(port, sh(script), "stdin", "stdout", tty=True) as peer:
        await peer.until(STDOUT, b"ready")
        await peer.send(bytes((STDIN, 3)))
        await peer.until_closed()

    assert b"stopped" in peer.received[STDOUT]
    assert exit_code(status(peer.received[ERROR])) == "9"


async def test_a_size_that_is_none_changes_nothing(port: int) -> None:
    async with websocket(port, sh("read x; stty size"), "stdin", "stdout", tty=True) as peer:
        await peer.send(bytes((RESIZE,)) + b'{"Width":-1,"Height":"many"}')
        await peer.send(bytes((STDIN,)) + b"go\n")
        await peer.until_closed()

    assert b"0 0\r\n" in peer.received[STDOUT]


async def test_a_signal_that_ends_the_command_is_told_as_shells_do(port: int) -> None:
    async with spdy(port, sh("kill -9 $$"), "stdout") as command:
        _, _, told = await command.ended()

    assert exit_code(told) == "137"


@pytest.mark.parametrize("tty", [False, True])
async def test_a_program_that_does_not_exist_is_named(port: int, tty: bool) -> None:
    async with spdy(port, ["no-such-program"], "stdout", tty=tty) as command:
        _, _, told = await command.ended()

    assert told["reason"] == "InternalError"
    assert told["message"].endswith("there is no program 'no-such-program'")


DOCUMENTS = """
kind: Exec
metadata: {name: web, namespace: default}
spec:
  execs:
  - containers: [main]
    local:
      workDir: WORK
      envs: [{name: COLOUR, value: green}, {name: HOSTNAME, value: my-own}]
"""


async def test_the_document_gives_environment_and_folder(tmp_path: Path) -> None:
    script = "pwd; echo $COLOUR $HOSTNAME $INHERITED $POD_NAMESPACE/$POD_NAME/$CONTAINER_NAME"
    environment = {"PATH": os.environ["PATH"], "INHERITED": "too"}
    documents = DOCUMENTS.replace("WORK", str(tmp_path))
    async with (
        serving(documents, environment=environment) as port,
        spdy(port, sh(script), "stdout") as command,
    ):
        out, _, _ = await command.ended()

    assert out.decode() == f"{tmp_path}\ngreen my-own too default/web/main\n"


async def test_a_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    documents = DOCUMENTS.replace("WORK", str(tmp_path / "none"))
    async with serving(documents) as port, spdy(port, ["true"], "stdout") as command:
        _, _, told = await command.ended()

    assert f"the working directory '{tmp_path}/none' does not exist" in told["message"]


AS_NOBODY = """
kind: ClusterExec
metadata: {name: any}
spec: {execs: [{local: {securityContext: {runAsUser: 65534, runAsGroup: 65533}}}]}
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize("tty", [False, True])
async def test_a_command_runs_as_the_user_of_the_document(tty: bool) -> None:
    async with (
        serving(AS_NOBODY) as port,
        spdy(port, sh("id -u; id -g; id -G"), "stdout", tty=tty) as command,
    ):
        out, _, told = await command.ended()

    assert out.split() == [b"65534", b"65533", b"65533"]
    assert told == SUCCESS


@pytest.mark.skipif(os.geteuid() == 0, reason="root can become everybody")
async def test_a_user_that_we_may_not_become_is_named() -> None:
    async with serving(AS_NOBODY) as port, spdy(port, ["true"], "stdout") as command:
        _, _, told = await command.ended()

    assert "may not be run as user 65534" in told["message"]


async def test_nothing_runs_without_a_document() -> None:
    async with (
        serving("") as port,
        asking(port, exec_path(["true"], "stdout"), spdy_headers(V4), "POST") as wire,
    ):
        assert wire.status == 400
        assert wire.body.strip() == (
            "no document of kind Exec or ClusterExec allows commands in container 'main' "
            "of pod 'default/web'"
        )


async def test_a_container_that_the_document_of_the_pod_leaves_out_is_refused() -> None:
    documents = DOCUMENTS.replace("[main]", "[side]") + (
        "\n---\nkind: ClusterExec\nmetadata: {name: any}\nspec: {execs: [{local: {}}]}\n"
    )
    async with (
        serving(documents) as port,
        asking(port, exec_path(["true"], "stdout"), spdy_headers(V4), "POST") as wire,
    ):
        assert wire.status == 400


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


def _is_running(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


@pytest.mark.parametrize("tty", [False, True])
@pytest.mark.parametrize("start", [spdy, websocket])
async def test_a_command_ends_when_its_client_goes(
    port: int, tmp_path: Path, start: Callable[..., object], tty: bool
) -> None:
    noted = tmp_path / "pids"
    script = f"sleep 600 & echo $! $$ > {noted}; echo ready; wait"
    if start is spdy:
        async with spdy(port, sh(script), "stdin", "stdout", tty=tty) as command:
            await command.peer.until(command.streams["stdout"], b"ready")
    else:
        async with websocket(port, sh(script), "stdin", "stdout", tty=tty) as peer:
            await peer.until(STDOUT, b"ready")
    pids = [int(word) for word in noted.read_text().split()]

    await eventually(lambda: not any(map(_is_running, pids)))


async def test_a_command_that_ignores_signals_ends_when_its_client_goes(
    port: int, tmp_path: Path
) -> None:
    noted = tmp_path / "pid"
    script = f"trap '' TERM HUP; echo $$ > {noted}; echo ready; while :; do sleep 0.05; done"
    async with websocket(port, sh(script), "stdout") as peer:
        await peer.until(STDOUT, b"ready")

    await eventually(lambda: not _is_running(int(noted.read_text())))


async def test_what_a_command_leaves_running_is_ended(port: int, tmp_path: Path) -> None:
    noted = tmp_path / "pid"
    async with spdy(port, sh(f"sleep 600 & echo $! > {noted}"), "stdout") as command:
        _, _, told = await command.ended()

    assert told == SUCCESS
    await eventually(lambda: not _is_running(int(noted.read_text())))


async def test_a_program_that_has_left_its_session_does_not_hold_up_the_end(port: int) -> None:
    async with spdy(port, sh("echo out; setsid sleep 5 &"), "stdout") as command:
        out, _, told = await command.ended()

    assert (out, told) == (b"out\n", SUCCESS)


async def test_a_client_that_does_not_read_holds_up_the_command(port: int, tmp_path: Path) -> None:
    count = tmp_path / "count"
    script = f"while :; do head -c 65536 /dev/zero; echo >> {count}; done"
    async with websocket(port, sh(script), "stdout") as peer:
        peer.wire.writer.transport.pause_reading()  # type: ignore[attr-defined]
        settled = await _settled(count)

    # What lies between: the kernel's buffers on both sides and the server's, some megabytes.
    assert settled < 400


async def _settled(count: Path) -> int:
    """Return how often something was noted once nothing is noted any more."""
    seen, still = -1, 0
    while still < 10:
        now = count.stat().st_size if count.exists() else 0
        still = still + 1 if now == seen and now > 0 else 0
        seen = now
        await asyncio.sleep(0.05)
    return seen


async def test_streams_that_nobody_asked_for_are_reset(port: int) -> None:
    async with asking(port, exec_path(["true"], "stdout"), spdy_headers(V4)) as wire:
        peer = SpdyPeer(wire)
        error = await peer.open(streamtype="error")
        again, unknown = await peer.open(streamtype="error"), await peer.open(streamtype="sound")
        stdout = await peer.open(streamtype="stdout")
        await peer.until_end_of(error)
        await peer.until_end_of(stdout)

    assert {again, unknown} <= peer.was_reset


async def test_malformed_spdy_ends_the_connection(port: int) -> None:
    async with spdy(port, ["sleep", "60"], "stdin", "stdout") as command:
        await command.peer.wire.send(b"GET / HTTP/1.1\r\n\r\n" + bytes(100))
        await command.peer.until_closed()

    assert command.peer.says_goodbye


async def test_malformed_websocket_ends_the_connection(port: int) -> None:
    async with websocket(port, ["sleep", "60"], "stdin", "stdout") as peer:
        await peer.wire.send(b"\xff" * 100)
        await peer.until_closed()

    assert peer.close_code == 1002


async def test_many_commands_one_after_the_other_leave_nothing() -> None:
    pods = Pods()
    async with serving(pods=pods) as port:
        before = _descriptors()
        for _ in range(30):
            async with spdy(port, ["true"], "stdout") as command:
                await command.ended()
            async with websocket(port, ["sleep", "60"], "stdin", "stdout", tty=True) as peer:
                await peer.more()
        await eventually(lambda: _descriptors() <= before)
        assert _children() == []


def _descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def _children() -> list[str]:
    tasks = Path("/proc/self/task").iterdir()
    return [pid for task in tasks for pid in (task / "children").read_text().split()]
