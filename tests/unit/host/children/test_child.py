import asyncio
import os
import signal
from pathlib import Path

import pytest

from kwokctl.host.children.child import ChildOptions, running
from kwokctl.host.children.pipes import ReadEnd
from tests.support.eventually import eventually

ENV = {"PATH": os.environ["PATH"]}


def options(script: str, *, has_input: bool = False, has_terminal: bool = False) -> ChildOptions:
    return ChildOptions(
        argv=("sh", "-c", script), env=ENV, has_input=has_input, has_terminal=has_terminal
    )


async def test_input_goes_in_and_output_comes_out() -> None:
    async with running(options("cat; echo no >&2", has_input=True)) as child:
        assert child.stdin is not None
        assert child.stderr is not None
        assert await child.stdin.write(b"hello")
        child.stdin.close()
        assert await child.stdout.read() == b"hello"
        assert await child.stderr.read() == b"no\n"

        assert await child.wait() == 0


async def test_more_than_a_pipe_holds_goes_in_as_it_is_read() -> None:
    data = os.urandom(1_000_000)
    async with running(options("cat", has_input=True)) as child:
        assert child.stdin is not None
        async with asyncio.TaskGroup() as tasks:
            writing = tasks.create_task(child.stdin.write(data))
            read = b""
            while len(read) < len(data):
                read += await child.stdout.read()

        assert writing.result()
        assert read == data


async def test_what_a_program_does_not_read_is_said_not_to_be_taken() -> None:
    async with running(options("exec 0<&-; echo closed; sleep 60", has_input=True)) as child:
        assert child.stdin is not None
        assert await child.stdout.read() == b"closed\n"

        assert not await child.stdin.write(bytes(1_000_000))


async def test_without_input_a_program_finds_the_end() -> None:
    async with running(options("wc -c")) as child:
        assert (await child.stdout.read()).strip() == b"0"


async def test_the_exit_status_is_that_of_a_shell() -> None:
    async with running(options("exit 5")) as child:
        assert await child.wait() == 5
    async with running(options("kill -TERM $$")) as child:
        assert await child.wait() == 128 + signal.SIGTERM


async def test_a_terminal_belongs_to_its_program() -> None:
    script = "tty > /dev/null && exec 3<> /dev/tty && echo controlled"
    async with running(options(script, has_terminal=True)) as child:
        assert await _all_of(child.stdout) == b"controlled\r\n"
        assert await child.wait() == 0
        assert await child.stdout.read() == b""


async def test_it_is_ended_with_what_it_has_started(tmp_path: Path) -> None:
    noted = tmp_path / "pids"
    async with running(options(f"sleep 600 & echo $$ $! > {noted}; echo ready; wait")) as child:
        await child.stdout.read()
    pids = noted.read_text().split()

    await eventually(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids))


@pytest.mark.parametrize("is_cut", [False, True])
async def test_jobs_of_a_shell_end_with_it(tmp_path: Path, is_cut: bool) -> None:
    noted = tmp_path / "pid"
    script = f"set -m; (trap '' HUP; sleep 600) & echo $! > {noted}; echo ready"
    script += "; sleep 600" if is_cut else ""
    async with running(options(script, has_terminal=True)) as child:
        await child.stdout.read()
        if not is_cut:
            assert await child.wait() == 0

    await eventually(lambda: not Path(f"/proc/{noted.read_text().strip()}").exists())


async def test_whoever_is_cancelled_while_it_ends_leaves_none(tmp_path: Path) -> None:
    async def run() -> None:
        async with running(options("trap '' TERM; echo ready; sleep 600; sleep 600")) as child:
            pids.append(child.process.pid)
            await child.stdout.read()
            is_ready.set()
            await asyncio.Event().wait()

    pids: list[int] = []
    is_ready = asyncio.Event()
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(run())
        await is_ready.wait()
        task.cancel()
        await asyncio.sleep(0)
        task.cancel()

    assert not Path(f"/proc/{pids[0]}").exists()


async def test_whoever_is_cancelled_while_it_starts_leaves_none(tmp_path: Path) -> None:
    async def run() -> None:
        async with running(options(f"echo $$ > {tmp_path / 'pid'}; sleep 600")):
            await asyncio.Event().wait()

    before = _descriptors()
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(run())
        await asyncio.sleep(0)
        task.cancel()

    await eventually(lambda: _descriptors() == before)


async def test_a_program_that_does_not_exist_leaves_nothing_open() -> None:
    before = _descriptors()
    for has_terminal in (False, True):
        nothing = ChildOptions(
            argv=("true",), env=ENV, folder="/no/such/folder", has_terminal=has_terminal
        )
        with pytest.raises(FileNotFoundError) as raised:
            async with running(nothing):
                pass

        assert raised.value.filename == "/no/such/folder"
    assert _descriptors() == before


async def _all_of(end: ReadEnd) -> bytes:
    """Read to the end: a terminal passes a line and its end on in pieces."""
    whole = b""
    while piece := await end.read():
        whole += piece
    return whole


def _descriptors() -> int:
    """Count what is open; the folder itself is, while it is listed."""
    return len(list(Path("/proc/self/fd").iterdir()))
