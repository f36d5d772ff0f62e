import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from kwokctl.errors import BusyError
from kwokctl.host.noted_locks import locked, turn
from kwokctl.host.processes.launcher import FAILED, launch
from kwokctl.host.processes.supervise import (
    Process,
    is_running,
    kill,
    launched,
    read_pid_file,
    reap,
    stop,
)
from kwokctl.replacing import replace
from tests.support.eventually import eventually

SLEEP = ["/bin/sleep", "600"]
DEAF = ["/bin/sh", "-c", "trap '' TERM; echo deaf; while :; do sleep 600; done"]


BUSY = """
import itertools, threading
memory = bytearray(200 << 20)
for n in range(0, len(memory), 4096):
    memory[n] = 1
def write(thread):
    for n in itertools.count():
        open(f"{thread}-{n}.made", "w").close()
for thread in range(8):
    threading.Thread(target=write, args=(thread,)).start()
"""
"""A program that has memory to give back, and makes files as fast as it can."""


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

    def launch(self, argv: list[str], *, lock: int | None = None, **env: str) -> int:
        pid = launch(
            argv, pid_file=self.pid_file, log=self.log, folder=self.folder, env=env, lock=lock
        )
        self.pids.append(pid)
        return pid

    async def start(self, argv: list[str]) -> Process:
        assert await launched(self.launch(argv)) is None
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


async def test_a_launched_program_runs_under_the_batch_scheduler(programs: Programs) -> None:
    process = await programs.start(SLEEP)

    assert os.sched_getscheduler(process.pid) == os.SCHED_BATCH
    assert os.sched_getscheduler(0) == os.SCHED_OTHER


async def test_a_launched_program_is_scheduled_as_the_user_has_chosen(
    programs: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getscheduler", lambda _: os.SCHED_IDLE)
    process = await programs.start(SLEEP)
    monkeypatch.undo()

    assert os.sched_getscheduler(process.pid) == os.SCHED_OTHER


async def test_a_program_is_launched_where_its_scheduling_may_not_be_chosen(
    programs: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "sched_setscheduler", refuse)
    process = await programs.start(SLEEP)

    assert os.sched_getscheduler(process.pid) == os.SCHED_OTHER


async def test_the_launcher_writes_its_pid_before_it_becomes_the_program(
    programs: Programs,
) -> None:
    process = await programs.start(SLEEP)

    assert process.is_alive
    assert os.getsid(process.pid) == process.pid
    assert (Path("/proc") / str(process.pid) / "cwd").readlink() == programs.folder


async def test_environment_and_output_are_as_requested(programs: Programs) -> None:
    programs.launch(["/bin/sh", "-c", "echo $WHAT; echo too >&2"], WHAT="said")

    await written(programs.log, "said\ntoo\n")


async def test_a_program_that_cannot_be_executed_fails_at_once_with_the_reason_in_its_log(
    programs: Programs,
) -> None:
    status = await launched(programs.launch(["/nowhere/program"]))

    assert status in FAILED
    assert "/nowhere/program" in programs.log.read_text(encoding="utf-8")
    assert not is_running(programs.pid_file)


async def test_a_program_of_another_machine_cannot_be_executed(programs: Programs) -> None:
    foreign = programs.folder / "foreign"
    # Bytes 18 and 19 of an ELF file are the machine that it is for; there is no 0xFFFF.
    program = Path("/bin/sleep").read_bytes()
    foreign.write_bytes(program[:18] + b"\xff\xff" + program[20:])
    foreign.chmod(0o755)

    assert await launched(programs.launch([str(foreign)])) in FAILED


async def test_a_child_keeps_its_lock_until_it_is_known(programs: Programs) -> None:
    lock = programs.folder / "program.lock"
    # The pipe has no reader yet, so the child waits for ever just before it writes its pid.
    os.mkfifo(programs.pid_file)

    async with turn(lock, doing="starting", waiting=lambda _: None) as held:
        pid = programs.launch(SLEEP, lock=held)

    with pytest.raises(BusyError), locked(lock, what="it"):
        pass
    content = programs.pid_file.read_text(encoding="ascii")
    assert content.split()[0] == str(pid)
    assert await launched(pid) is None
    # The kernel lets go of it when the child returns from exec, a moment after it can be seen to
    # be the program.
    async with asyncio.timeout(30), turn(lock, doing="looking", waiting=lambda _: None):
        pass
    assert (Path("/proc") / str(pid) / "fd" / "0").readlink() == Path(os.devnull)


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


async def test_a_process_that_was_not_launched_in_its_own_session_is_another(
    programs: Programs,
) -> None:
    process = await programs.start(["/bin/sh", "-c", "sleep 600; echo woken"])
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    await eventually(lambda: children.read_text(encoding="ascii"))
    child = int(children.read_text(encoding="ascii"))
    start = Path(f"/proc/{child}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[19]

    # Stopping it would wait forever: it has no group of its number that a signal could reach.
    assert not replace(process, pid=child, start=start).is_alive


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


async def test_what_a_stopped_script_has_started_ends_with_it(programs: Programs) -> None:
    process = await programs.start(["/bin/sh", "-c", "sleep 600; echo woken"])
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    await eventually(lambda: children.read_text(encoding="ascii"))
    child = int(children.read_text(encoding="ascii"))

    await stop(process, grace=30)

    assert not _runs(child)


async def test_a_program_gets_the_signal_to_terminate_only_once(programs: Programs) -> None:
    count = (
        "trap 'echo asked; n=$((n+1))' TERM; echo up; until [ $n ]; do sleep 0.01; done; sleep 0.2"
    )
    process = await programs.start(["/bin/sh", "-c", count])
    await written(programs.log, "up")

    await stop(process, grace=30)

    assert programs.log.read_text(encoding="utf-8").count("asked") == 1


def _runs(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and ") Z" not in stat.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "content",
    ["", "12", "12 34", "x 1 y", "nonsense", "-1 1 y", "0 1 y", "4194305 1 y", f"{10**20} 1 y"],
)
def test_a_truncated_pid_file_names_no_process(tmp_path: Path, content: str) -> None:
    (tmp_path / "p.pid").write_text(content, encoding="ascii")

    assert read_pid_file(tmp_path / "p.pid") is None
    assert not is_running(tmp_path / "p.pid")


async def test_what_was_killed_does_nothing_any_more_though_it_may_not_have_ended(
    programs: Programs,
) -> None:
    process = await programs.start([sys.executable, "-c", BUSY])

    def made() -> set[str]:
        return {file.name for file in programs.folder.glob("*.made")}

    await eventually(lambda: len(made()) > 100)
    await kill(process)
    left = made()
    await eventually(lambda: not process.is_alive)

    assert made() == left


async def test_killing_what_has_ended_does_nothing(programs: Programs) -> None:
    process = await programs.start(SLEEP)

    for _ in range(2):
        await kill(process)
        await eventually(lambda: not process.is_alive)
