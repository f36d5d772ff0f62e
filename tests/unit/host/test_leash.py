import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from kwokctl.errors import CommandError
from kwokctl.host.process import run_leashed
from tests.support.eventually import eventually

_FAMILY = """
import os, subprocess, sys, time
from pathlib import Path
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
path = Path(sys.argv[1])
path.with_suffix(".new").write_text(f"{os.getpid()} {child.pid}")
path.with_suffix(".new").rename(path)
time.sleep(600)
"""
"""A program that has started another, and says who they are."""

_OWNER = """
import asyncio, sys
from kwokctl.host.process import run_leashed
asyncio.run(run_leashed(sys.executable, "-c", sys.argv[1], sys.argv[2]))
"""


_STUBBORN = f"""
import signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
{_FAMILY.replace("path =", "signal.signal(signal.SIGINT, signal.SIG_DFL); path =")}
"""
"""One that ends when it is interrupted, as kind does, while what it has started does not."""


def _runs(pid: int) -> bool:
    """Return whether a process runs; one that has ended and was not reaped does not."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


async def _family(pid_list: Path) -> list[int]:
    await eventually(pid_list.exists)
    return [int(pid) for pid in pid_list.read_text().split()]


async def _gone(pids: list[int]) -> None:
    await eventually(lambda: not any(map(_runs, pids)))


async def test_a_program_runs_to_its_end_and_its_lines_come_as_they_are_written() -> None:
    lines: list[str] = []
    script = "import sys; print('out'); print('one\\ntwo', file=sys.stderr)"

    out = await run_leashed(sys.executable, "-c", script, line=lines.append)

    assert out == "out\n"
    assert lines == ["one", "two"]


async def test_a_line_may_be_long_and_without_an_end() -> None:
    lines: list[str] = []
    script = "import sys; sys.stderr.write('x' * 300_000)"

    await run_leashed(sys.executable, "-c", script, line=lines.append)

    assert lines == ["x" * 300_000]


async def test_a_program_that_fails_shows_its_last_lines() -> None:
    with pytest.raises(CommandError, match="exited with 3") as caught:
        await run_leashed(
            sys.executable, "-c", "import sys; print('why', file=sys.stderr); sys.exit(3)"
        )

    assert caught.value.detail == "why"


async def test_a_status_may_be_accepted() -> None:
    out = await run_leashed(
        sys.executable, "-c", "import sys; print('out'); sys.exit(1)", accept=(0, 1)
    )

    assert out == "out\n"


async def test_a_program_that_is_not_there_fails() -> None:
    with pytest.raises(CommandError, match="exited with 127") as caught:
        await run_leashed("/no/program")

    assert caught.value.detail == "/no/program: No such file or directory"


async def test_a_cancelled_program_ends_with_all_that_it_started(tmp_path: Path) -> None:
    pid_list = tmp_path / "pids"
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(run_leashed(sys.executable, "-c", _FAMILY, pid_list))
        pids = await _family(pid_list)
        running.cancel()

    await _gone(pids)


@pytest.mark.parametrize("program", [_FAMILY, _STUBBORN], ids=["family", "stubborn"])
async def test_a_program_ends_with_all_that_it_started_when_its_owner_is_killed(
    tmp_path: Path, program: str
) -> None:
    pid_list = tmp_path / "pids"
    owner = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _OWNER, program, str(pid_list)
    )
    pids = await _family(pid_list)

    os.kill(owner.pid, signal.SIGKILL)
    await owner.wait()

    await _gone(pids)
