"""Programs that are forked from a Python which has loaded them are as if they had been started one by one."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kwokctl.host.noted_locks import turn
from kwokctl.host.processes.forks import Forks, preloaded
from kwokctl.host.processes.supervise import Process, read_pid_file
from tests.support.eventually import eventually

KINDS = {"controller": "Stage", "kubelet": "Logs"}
START = [sys.executable, "-P", "-m"]
KUBECONFIG = """\
apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: u, user: {}}]
"""


def command(program: str, folder: Path) -> list[str]:
    """A program that goes on: it tries to reach a server that is not there."""
    words = [
        f"--kubeconfig={folder / 'kubeconfig'}",
        "--server-address=127.0.0.1:0",
        "--manage-all-nodes",
        f"--enable-crds={KINDS[program]}",
    ]
    return [*START, f"kwokctl.{program}", *words]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "kubeconfig").write_text(KUBECONFIG)
    yield tmp_path
    for file in tmp_path.glob("*.pid"):
        if (process := read_pid_file(file)) and process.is_alive:
            os.kill(process.pid, signal.SIGKILL)


async def launch(forks: Forks, argv: list[str], folder: Path, name: str) -> bool:
    async with turn(folder / f"{name}.lock", doing="starting", waiting=lambda _: None) as lock:
        return await forks.launch(
            argv,
            pid_file=folder / f"{name}.pid",
            log=folder / f"{name}.log",
            folder=folder,
            env={"GREETING": "hello"},
            lock=lock,
        )


def running(folder: Path, name: str) -> Process:
    process = read_pid_file(folder / f"{name}.pid")
    assert process is not None
    assert process.is_alive
    return process


def handles_sigterm(process: Process) -> bool:
    status = Path(f"/proc/{process.pid}/status").read_text()
    [caught] = (line.split()[1] for line in status.splitlines() if line.startswith("SigCgt"))
    return bool(int(caught, 16) >> (signal.SIGTERM - 1) & 1)


async def test_each_has_its_own_words_session_folder_and_log(folder: Path) -> None:
    commands = {name: command(name, folder) for name in ("controller", "kubelet")}

    with preloaded(list(commands.values())) as forks:
        for name, argv in commands.items():
            assert await launch(forks, argv, folder, name)

    # What has forked them is gone by now.
    for name, argv in commands.items():
        process = running(folder, name)
        assert process.words == argv
        assert Path(f"/proc/{process.pid}/cwd").readlink() == folder
        assert Path(f"/proc/{process.pid}/fd/1").readlink() == folder / f"{name}.log"
        log = folder / f"{name}.log"
        await eventually(log.read_text)
        assert "Traceback" not in log.read_text()
    assert running(folder, "controller") != running(folder, "kubelet")


async def test_a_fork_lets_go_of_its_lock_and_ends_as_any_program(folder: Path) -> None:
    commands = [command(name, folder) for name in ("controller", "kubelet")]

    with preloaded(commands) as forks:
        assert await launch(forks, commands[1], folder, "kubelet")
        process, log = running(folder, "kubelet"), folder / "kubelet.log"
        async with turn(folder / "kubelet.lock", doing="stopping", waiting=lambda _: None):
            await eventually(lambda: handles_sigterm(process))
            os.kill(process.pid, signal.SIGTERM)
            await eventually(lambda: not process.is_alive)
    assert "received a signal to end" in log.read_text()


@pytest.mark.parametrize(
    "others",
    [
        pytest.param([], id="only one of them is ours"),
        pytest.param([[*START, "kwokctl.no_such_program"]], id="one of them cannot be loaded"),
    ],
)
async def test_what_cannot_be_forked_is_left_to_others(
    others: list[list[str]], folder: Path
) -> None:
    program = command("controller", folder)

    with preloaded([program, ["/bin/true"], *others]) as forks:
        assert not await launch(forks, program, folder, "controller")
        assert not await launch(forks, ["/bin/true"], folder, "true")
    assert not (folder / "controller.pid").exists()


async def test_a_fork_that_cannot_write_its_files_is_left_to_others(folder: Path) -> None:
    commands = [command(name, folder) for name in ("controller", "kubelet")]
    (folder / "kubelet.log").mkdir()

    with preloaded(commands) as forks:
        assert not await launch(forks, commands[1], folder, "kubelet")
    assert not (folder / "kubelet.pid").exists()
