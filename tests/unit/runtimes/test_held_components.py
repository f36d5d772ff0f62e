"""A component of the binary runtime can be kept from acting, and never waits without an owner."""

import os
import signal
import sys
from asyncio import create_subprocess_exec
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Collection
from pathlib import Path

import pytest

from kwokctl.host.machine import Host
from kwokctl.host.paths import ClusterPaths, WorkDir
from kwokctl.host.processes.launches import Launches
from kwokctl.model import ETCD, Artifact, ClusterName, Component, Plan, State
from runtimes.binary.binary_runtime import BinaryRuntime
from tests.support.eventually import eventually

CLUSTER = ClusterName("c")
ACTS = """\
echo >waiting
content=$(cat "${1#*=}")
[ "$content" ] || exit 1
echo "$content" >acted
while :; do sleep 600; done
"""
HOLDER = """\
import asyncio, sys
from pathlib import Path
from kwokctl.host.machine import Host
from kwokctl.host.paths import WorkDir
from kwokctl.model import ETCD, ClusterName
from runtimes.binary.binary_runtime import BinaryRuntime

async def hold():
    let_go = await BinaryRuntime(Host(WorkDir(Path(sys.argv[1])))).replace_held(ClusterName("c"), ETCD)
    print("held", flush=True)
    await asyncio.Event().wait()

asyncio.run(hold())
"""


@pytest.fixture
def paths(tmp_path: Path) -> ClusterPaths:
    return WorkDir(tmp_path).cluster(CLUSTER)


@pytest.fixture
async def runtime(tmp_path: Path) -> AsyncIterator[BinaryRuntime]:
    made = BinaryRuntime(Host(WorkDir(tmp_path)), grace=0.05)
    yield made
    await made.uninstall(CLUSTER)


@pytest.fixture
async def file(runtime: BinaryRuntime, tmp_path: Path) -> Path:
    """The file that a component reads before it acts."""
    file = tmp_path / "last"
    file.write_text("as it was")
    await runtime.install(_plan(file, held_at="last"))
    return file


def _plan(file: Path, *, held_at: str) -> Plan:
    artifact = Artifact(name=ETCD, version="v0", command=("/bin/sh",))
    words = ("-c", ACTS, "sh", f"--last={file}")
    component = Component(name=ETCD, artifact=artifact, args=words, held_at=held_at)
    return Plan(cluster=CLUSTER, components={ETCD: component})


def _acted(paths: ClusterPaths) -> str:
    file = paths.root / "acted"
    return file.read_text().strip() if file.exists() else ""


async def _waits(paths: ClusterPaths) -> None:
    await eventually((paths.root / "waiting").exists)


async def _pids(runtime: BinaryRuntime) -> Collection[int]:
    return (await runtime.processes(CLUSTER)).get(ETCD, ())


async def test_one_that_is_held_acts_when_it_is_let_go_and_runs_on(
    runtime: BinaryRuntime, paths: ClusterPaths, file: Path
) -> None:
    await runtime.start(CLUSTER)
    await eventually(lambda: _acted(paths))
    [former] = await _pids(runtime)
    (paths.root / "acted").unlink()
    (paths.root / "waiting").unlink()

    let_go = await runtime.replace_held(CLUSTER, ETCD)
    [held] = await _pids(runtime)
    assert held != former
    await _waits(paths)
    file.write_text("changed meanwhile")
    assert not _acted(paths)
    assert not Launches(paths).is_wanted(ETCD)

    let_go()
    await runtime.start(CLUSTER, ETCD)
    await eventually(lambda: _acted(paths) == "as it was")
    assert await _pids(runtime) == [held]
    assert Launches(paths).is_wanted(ETCD)
    assert await runtime.states(CLUSTER) == {ETCD: State.RUNNING}


async def test_one_that_is_let_go_before_it_comes_to_its_last_file_reads_it(
    runtime: BinaryRuntime, paths: ClusterPaths, file: Path
) -> None:
    (await runtime.replace_held(CLUSTER, ETCD))()

    await eventually(lambda: _acted(paths) == "as it was")


async def test_one_that_is_held_is_stopped_as_any_other(
    runtime: BinaryRuntime, paths: ClusterPaths, file: Path
) -> None:
    let_go = await runtime.replace_held(CLUSTER, ETCD)

    await runtime.stop(CLUSTER)
    let_go()

    assert await runtime.states(CLUSTER) == {ETCD: State.STOPPED}
    assert not _acted(paths)
    await runtime.start(CLUSTER)
    await eventually(lambda: _acted(paths))


async def test_one_that_is_held_is_found_without_its_pid_file(
    runtime: BinaryRuntime, paths: ClusterPaths, file: Path
) -> None:
    let_go = await runtime.replace_held(CLUSTER, ETCD)
    held = await _pids(runtime)
    await _waits(paths)
    (paths.pids / f"{ETCD}.pid").unlink()

    let_go()
    await runtime.start(CLUSTER)

    assert await _pids(runtime) == held


async def test_one_that_is_held_ends_with_the_process_that_holds_it_and_can_be_started(
    runtime: BinaryRuntime, paths: ClusterPaths, file: Path, tmp_path: Path
) -> None:
    holder = await create_subprocess_exec(
        sys.executable, "-c", HOLDER, str(tmp_path), stdout=PIPE, cwd=Path(__file__).parents[3]
    )
    assert holder.stdout
    assert await holder.stdout.readline() == b"held\n"
    [held] = await _pids(runtime)

    holder.send_signal(signal.SIGKILL)
    await holder.wait()

    # Killed before it comes to its last file, or while it waits for it.
    await eventually(lambda: not _runs(held))
    assert await runtime.states(CLUSTER) == {ETCD: State.STOPPED}
    assert not _acted(paths)
    await runtime.start(CLUSTER)
    await eventually(lambda: _acted(paths))


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.parametrize("held_at", ["", "other"])
async def test_one_that_cannot_be_held_is_only_stopped(
    runtime: BinaryRuntime, paths: ClusterPaths, file: Path, held_at: str
) -> None:
    await runtime.install(_plan(file, held_at=held_at))
    await runtime.start(CLUSTER)
    await eventually(lambda: _acted(paths))

    let_go = await runtime.replace_held(CLUSTER, ETCD)

    assert await runtime.states(CLUSTER) == {ETCD: State.STOPPED}
    let_go()
    await runtime.start(CLUSTER)
    assert await runtime.states(CLUSTER) == {ETCD: State.RUNNING}


async def test_one_whose_last_file_is_gone_is_only_stopped(
    runtime: BinaryRuntime, file: Path
) -> None:
    file.unlink()

    await runtime.replace_held(CLUSTER, ETCD)

    assert await runtime.states(CLUSTER) == {ETCD: State.STOPPED}
