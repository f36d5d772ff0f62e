import asyncio
import os
import signal
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from kwokctl.host.launcher import launch
from kwokctl.host.supervise import Process, is_running, launched, read_pid_file, reap, stop

SLEEP = ["/bin/sleep", "600"]
DEAF = ["/bin/sh", "-c", "trap '' TERM; echo deaf; while :; do sleep 600; done"]


@dataclass
class Programs:
    """Launches programs, and takes along what is left of them."""

    folder: Path
    pids: list[int] = field(default_factory=list)

    @property
    def pid_file(self) -> Path:
        return self.folder / "program.pid"

    @property
    def log(self) -> Path:
        return self.folder / "program.log"

    async def start(self, argv: list[str], **env: str) -> Process:
        self.pid_file.unlink(missing_ok=True)
        pid = launch(argv, pid_file=self.pid_file, log=self.log, folder=self.folder, env=env)
        self.pids.append(pid)
        assert await launched(self.pid_file, pid)
        process = read_pid_file(self.pid_file)
        assert process is not None
        return process


@pytest.fixture
async def programs(tmp_path: Path) -> AsyncIterator[Programs]:
    made = Programs(tmp_path)
    yield made
    for pid in made.pids:
        if reap(pid):
            os.killpg(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


async def written(path: Path, text: str) -> None:
    async with asyncio.timeout(30):
        while not path.exists() or text not in path.read_text(encoding="utf-8"):
            await asyncio.sleep(0.005)


async def test_a_program_writes_who_it_is_before_it_becomes_the_program(programs: Programs) -> None:
    process = await programs.start(SLEEP)

    assert process.is_alive
    assert os.getsid(process.pid) == process.pid
    assert (Path("/proc") / str(process.pid) / "cwd").readlink() == programs.folder


async def test_environment_and_output_are_as_asked(programs: Programs) -> None:
    await programs.start(["/bin/sh", "-c", "echo $WHAT; echo too >&2"], WHAT="said")

    await written(programs.log, "said\ntoo\n")


async def test_a_program_that_is_not_there_says_so_in_its_log_and_is_dead(
    programs: Programs,
) -> None:
    await programs.start(["/nowhere/program"])

    await written(programs.log, "/nowhere/program")
    async with asyncio.timeout(30):
        while is_running(programs.pid_file):
            await asyncio.sleep(0.005)


async def test_a_zombie_does_not_run(programs: Programs) -> None:
    process = await programs.start(SLEEP)

    os.kill(process.pid, signal.SIGKILL)

    async with asyncio.timeout(30):
        while process.is_alive:
            await asyncio.sleep(0.005)
    assert Path(f"/proc/{process.pid}").exists(), "it was reaped: no zombie was looked at"


async def test_a_later_process_of_the_same_number_is_another(programs: Programs) -> None:
    process = await programs.start(SLEEP)

    assert not replace(process, start="1").is_alive
    assert not replace(process, boot="another").is_alive


async def test_stopping_another_process_of_the_same_number_leaves_it_alone(
    programs: Programs,
) -> None:
    process = await programs.start(SLEEP)

    await stop(replace(process, start="1"), grace=0.01)

    assert process.is_alive


async def test_a_stopped_process_is_gone(programs: Programs) -> None:
    process = await programs.start(SLEEP)

    await stop(process, grace=30)

    assert not Path(f"/proc/{process.pid}").exists()


async def test_a_process_that_does_not_listen_is_killed_with_its_children(
    programs: Programs,
) -> None:
    process = await programs.start(DEAF)
    await written(programs.log, "deaf")
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="ascii")

    await stop(process, grace=0.01)

    assert not process.is_alive
    async with asyncio.timeout(30):
        while any(_runs(int(child)) for child in children.split()):
            await asyncio.sleep(0.005)


def _runs(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and ") Z" not in stat.read_text(encoding="utf-8")


@pytest.mark.parametrize("content", ["", "12", "12 34", "x 1 y", "nonsense"])
def test_half_a_pid_file_tells_of_nobody(tmp_path: Path, content: str) -> None:
    (tmp_path / "p.pid").write_text(content, encoding="ascii")

    assert read_pid_file(tmp_path / "p.pid") is None
    assert not is_running(tmp_path / "p.pid")
