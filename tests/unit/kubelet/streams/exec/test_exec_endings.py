import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.eventually import eventually
from tests.support.exec_clients import (
    STDOUT,
    SUCCESS,
    sh,
    spdy,
    websocket,
)
from tests.support.stream_server import Pods, serving


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
        _, _, reported = await command.ended()

    assert reported == SUCCESS
    await eventually(lambda: not _is_running(int(noted.read_text())))


async def test_a_program_that_has_left_its_session_does_not_hold_up_the_end(port: int) -> None:
    async with spdy(port, sh("echo out; setsid sleep 5 &"), "stdout") as command:
        out, _, reported = await command.ended()

    assert (out, reported) == (b"out\n", SUCCESS)


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
        before, others = _descriptors(), _children()
        for _ in range(30):
            async with spdy(port, ["true"], "stdout") as command:
                await command.ended()
            async with websocket(port, ["sleep", "60"], "stdin", "stdout", tty=True) as peer:
                await peer.more()
        await eventually(lambda: _descriptors() <= before)
        assert _children() <= others


def _descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def _children() -> set[str]:
    """Return the processes that this one has started; those of other tests may have ended."""
    tasks = Path("/proc/self/task").iterdir()
    return {pid for task in tasks for pid in (task / "children").read_text().split()}
