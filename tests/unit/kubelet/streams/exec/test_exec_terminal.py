import pytest

from tests.support.exec_clients import (
    ERROR,
    RESIZE,
    STDIN,
    STDOUT,
    SUCCESS,
    exit_code,
    sh,
    spdy,
    websocket,
)
from tests.support.stream_peers import (
    status,
)


async def test_a_terminal_has_the_size_that_the_client_sends(port: int) -> None:
    async with spdy(port, sh("read x; stty size; echo $TERM"), "stdin", "stdout", tty=True) as run:
        await run.peer.send(run.streams["resize"], b'{"Width":132,"Hei')
        await run.peer.send(run.streams["resize"], b'ght":43}\n')
        await run.peer.send(run.streams["stdin"], b"go\n")
        out, _, reported = await run.ended()

    assert out == b"go\r\n43 132\r\nxterm\r\n"
    assert reported == SUCCESS


@pytest.mark.usefixtures("interrupts")
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
        _, _, reported = await command.ended()

    assert exit_code(reported) == "137"


@pytest.mark.parametrize("tty", [False, True])
async def test_a_program_that_does_not_exist_is_named(port: int, tty: bool) -> None:
    async with spdy(port, ["no-such-program"], "stdout", tty=tty) as command:
        _, _, reported = await command.ended()

    assert reported["reason"] == "InternalError"
    assert reported["message"].endswith("there is no program 'no-such-program'")
