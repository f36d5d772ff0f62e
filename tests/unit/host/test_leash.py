import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from kwokctl.errors import CommandError, UnavailableError
from kwokctl.host.process import run_in_view, run_leashed
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

_IN_VIEW = """
import asyncio, sys
from kwokctl.host.process import run_in_view
sys.exit(asyncio.run(run_in_view(sys.executable, "-c", *sys.argv[1:])))
"""

_TIDY = """
import os, signal, sys, time
from pathlib import Path
path = Path(sys.argv[1])
def tidy(number, _):
    path.with_suffix(".new").write_text(f"tidied by {os.getpid()}")
    path.with_suffix(".new").rename(path)
    sys.exit(7)
signal.signal(signal.SIGTERM, tidy)
print(os.getpid(), sys.stdin.readline().strip(), os.getpgid(0), file=sys.stderr, flush=True)
time.sleep(600)
"""
"""A command of the user that says which input and group it has, and tidies up when it is asked to end."""


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


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
async def test_a_command_in_view_has_our_input_and_is_asked_to_end_however_we_end(
    tmp_path: Path, how: signal.Signals
) -> None:
    tidied = tmp_path / "tidied"
    owner = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _IN_VIEW, _TIDY, str(tidied),
        stdin=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    assert owner.stdin is not None
    assert owner.stderr is not None
    owner.stdin.write(b"typed\n")
    pid, said, group = (await owner.stderr.readline()).decode().split()
    assert (said, int(group)) == ("typed", owner.pid)

    os.kill(owner.pid, how)
    await owner.communicate()

    await eventually(tidied.exists)
    assert tidied.read_text() == f"tidied by {pid}"
    await _gone([int(pid)])


@pytest.mark.parametrize("code", [130, 9])
async def test_ctrl_c_reaches_the_command_and_its_end_is_waited_for(code: int) -> None:
    handler = "lambda *_: sys.exit(9)" if code == 9 else "signal.SIG_DFL"
    command = f"import os, signal, sys, time; signal.signal(signal.SIGINT, {handler}); os.killpg(0, signal.SIGINT); time.sleep(600)"
    heedless = f"import signal; signal.signal(signal.SIGINT, lambda *_: None)\n{_IN_VIEW}"

    owner = await asyncio.create_subprocess_exec(
        sys.executable, "-c", heedless, command, start_new_session=True
    )

    assert await owner.wait() == code


@pytest.mark.parametrize("ignored", ["", "signal.SIGHUP"])
async def test_a_command_in_view_ignores_what_we_were_told_to_ignore(ignored: str) -> None:
    script = "import signal; raise SystemExit(signal.getsignal(signal.SIGHUP) is signal.SIG_IGN)"
    ignoring = f"import signal; [signal.signal(n, signal.SIG_IGN) for n in ({ignored + ',' if ignored else ''})]\n{_IN_VIEW}"

    owner = await asyncio.create_subprocess_exec(sys.executable, "-c", ignoring, script)

    assert await owner.wait() == bool(ignored)


@pytest.mark.parametrize("number", [0, 3, 127])
async def test_the_exit_code_of_a_command_in_view_is_returned(number: int) -> None:
    assert await run_in_view(sys.executable, "-c", f"raise SystemExit({number})") == number


async def test_a_command_in_view_that_is_not_there_or_no_program_is_refused(tmp_path: Path) -> None:
    (plain := tmp_path / "plain").write_text("text")

    with pytest.raises(UnavailableError, match="'no-such-program' is not installed"):
        await run_in_view("no-such-program")
    with pytest.raises(UnavailableError, match="cannot be run"):
        await run_in_view(plain)
    with pytest.raises(UnavailableError, match="cannot be run"):
        await run_in_view("plain", env={"PATH": str(tmp_path)})
