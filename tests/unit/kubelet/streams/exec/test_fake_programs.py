"""Programs that containers have without a document."""

from collections.abc import Sequence

import pytest

from kwokctl.kubelet.streams.fake_programs import Printed
from kwokctl.kubelet.streams.stream_targets import ContainerTarget
from tests.support.exec_clients import (
    ERROR,
    STDERR,
    STDIN,
    STDOUT,
    SUCCESS,
    V4,
    exit_code,
    spdy,
    websocket,
)
from tests.support.stream_peers import asking, exec_path, spdy_headers, status
from tests.support.stream_server import ANY_COMMAND, serving


async def fake(target: ContainerTarget, arguments: Sequence[str]) -> Printed:
    """Print where it is, and its arguments."""
    where = f"{target.pod.name}/{target.container.name}"
    printed = Printed(output=f"{where}\n{' '.join(arguments)}\n")
    if arguments:
        return Printed(output=printed.output, errors="oh\n", exit_code=6)
    return printed


PROGRAMS = {"nvidia-smi": fake}


async def test_a_fake_program_answers_without_a_document() -> None:
    async with (
        serving("", programs=PROGRAMS) as port,
        spdy(port, ["nvidia-smi"], "stdout", "stderr") as command,
    ):
        assert await command.ended() == (b"web/main\n\n", b"", SUCCESS)


async def test_its_arguments_errors_and_exit_code_come_over_both_protocols() -> None:
    words = ["/usr/bin/nvidia-smi", "-i", "7; rm -rf /"]
    async with serving("", programs=PROGRAMS) as port:
        async with spdy(port, words, "stdout", "stderr") as command:
            out, err, reported = await command.ended()
        async with websocket(port, words, "stdout", "stderr") as peer:
            await peer.until_closed()

    assert (out, err, exit_code(reported)) == (b"web/main\n-i 7; rm -rf /\n", b"oh\n", "6")
    assert (peer.received[STDOUT], peer.received[STDERR]) == (out, err)
    assert exit_code(status(peer.received[ERROR])) == "6"


async def test_at_a_terminal_lines_end_as_there_and_input_is_ignored() -> None:
    async with (
        serving("", programs=PROGRAMS) as port,
        websocket(port, ["nvidia-smi", "-x"], "stdin", "stdout", tty=True) as peer,
    ):
        await peer.send(bytes((STDIN,)) + b"anything\n" * 100)
        await peer.until_closed()

    assert peer.received[STDOUT] == b"web/main\r\n-x\r\noh\r\n"


async def test_an_output_that_was_not_asked_for_is_not_sent() -> None:
    async with (
        serving("", programs=PROGRAMS) as port,
        spdy(port, ["nvidia-smi", "-x"], "stderr") as command,
    ):
        out, err, reported = await command.ended()

    assert (out, err, exit_code(reported)) == (b"", b"oh\n", "6")


async def test_a_document_comes_before_it() -> None:
    async with (
        serving(ANY_COMMAND, environment={"PATH": "/none"}, programs=PROGRAMS) as port,
        spdy(port, ["nvidia-smi"], "stdout") as command,
    ):
        _, _, reported = await command.ended()

    assert "there is no program 'nvidia-smi'" in reported["message"]


async def test_an_entry_that_refuses_commands_refuses_it_too() -> None:
    document = "kind: ClusterExec\nmetadata: {name: any}\nspec: {execs: [{}]}\n"
    async with (
        serving(document, programs=PROGRAMS) as port,
        asking(port, exec_path(["nvidia-smi"], "stdout"), spdy_headers(V4), "POST") as wire,
    ):
        assert wire.status == 400
        assert "has no 'local', which may be empty" in wire.body


@pytest.mark.parametrize("word", ["nvidia-smi2", "nvidia-smi/", "sh", "", "/"])
async def test_no_other_command_is_answered(word: str) -> None:
    async with (
        serving("", programs=PROGRAMS) as port,
        asking(port, exec_path([word, "-L"], "stdout"), spdy_headers(V4), "POST") as wire,
    ):
        assert wire.status == 400
        assert "no document of kind Exec or ClusterExec allows commands" in wire.body
