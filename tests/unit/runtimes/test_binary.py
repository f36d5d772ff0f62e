"""What is the binary runtime's own; what holds for every runtime is in `tests/contract`."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kwokctl.errors import ComponentError, UnavailableError
from kwokctl.host import logfiles
from kwokctl.host.machine import Host
from kwokctl.host.paths import ClusterPaths, WorkDir
from kwokctl.host.processes import supervise
from kwokctl.host.processes.launches import Launches
from kwokctl.host.processes.lifecycle import start_component
from kwokctl.model import (
    ETCD,
    KUBE_APISERVER,
    Artifact,
    ClusterName,
    Component,
    ComponentName,
    Plan,
    State,
)
from runtimes.binary.binary_runtime import BinaryRuntime
from tests.support.eventually import eventually
from tests.support.full_disk import full_disk

CLUSTER = ClusterName("c")
SLEEP = ("/bin/sleep", "600")
DEAF = ("/bin/sh", "-c", "trap '' TERM; echo deaf; while :; do sleep 600; done")


def plan(*argv: str, name: ComponentName = ETCD, restart: bool = False) -> Plan:
    artifact = Artifact(name=name, version="v0", command=argv[:1])
    component = Component(name=name, artifact=artifact, args=argv[1:])
    return Plan(cluster=CLUSTER, components={name: component}, restart=restart)


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(WorkDir(tmp_path))


@pytest.fixture
def paths(host: Host) -> ClusterPaths:
    return host.cluster(CLUSTER)


@pytest.fixture
async def runtime(host: Host) -> AsyncIterator[BinaryRuntime]:
    made = BinaryRuntime(host, grace=0.05)
    yield made
    await made.uninstall(CLUSTER)


def process(paths: ClusterPaths, name: ComponentName = ETCD) -> supervise.Process:
    found = supervise.read_pid_file(paths.pids / f"{name}.pid")
    assert found is not None
    return found


async def test_a_component_that_does_not_listen_is_killed_after_the_grace(
    runtime: BinaryRuntime, paths: ClusterPaths
) -> None:
    await runtime.install(plan(*DEAF))
    await runtime.start(CLUSTER)
    deaf = process(paths)
    await eventually(lambda: "deaf\n" in paths.log(ETCD).read_text(encoding="utf-8"))

    await runtime.stop(CLUSTER)

    assert not deaf.is_alive


@pytest.mark.parametrize(
    ("former", "is_replaced"),
    [("unix:///run/peer.sock", True), ("unix://peer.sock", False)],
)
async def test_an_etcd_that_is_open_to_every_user_is_restarted(
    runtime: BinaryRuntime, paths: ClusterPaths, former: str, is_replaced: bool
) -> None:
    wait = ("/bin/sh", "-c", "while :; do sleep 600; done", "sh")
    await runtime.install(plan(*wait, f"--listen-peer-urls={former}"))
    await runtime.start(CLUSTER)
    running = process(paths)
    await runtime.install(plan(*wait, "--listen-peer-urls=unix://peer.sock"))

    for _ in range(2):
        await runtime.start(CLUSTER)

    assert running.is_alive is not is_replaced
    assert process(paths).words[-1] == "--listen-peer-urls=unix://peer.sock"
    assert await runtime.states(CLUSTER) == {ETCD: State.RUNNING}


async def test_a_component_on_its_way_when_its_command_was_killed_is_stopped(
    runtime: BinaryRuntime, paths: ClusterPaths
) -> None:
    await runtime.install(plan(*SLEEP))
    killed = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _START_AND_DIE, str(paths.root)
    )
    assert await killed.wait() == -signal.SIGKILL

    await runtime.stop(CLUSTER)

    assert await runtime.states(CLUSTER) == {ETCD: State.STOPPED}
    content = (paths.root / "pid").read_text(encoding="ascii")
    assert not Path(f"/proc/{content}").exists() or _is_zombie(content)


# Dies at the earliest moment at which there is a child.
_START_AND_DIE = """
import asyncio, os, signal, sys
from pathlib import Path
from kwokctl.host.paths import ClusterPaths
from kwokctl.host.processes import lifecycle
from kwokctl.host.processes.launches import Launches

root = Path(sys.argv[1])

async def die(pid):
    (root / "pid").write_text(str(pid))
    os.kill(os.getpid(), signal.SIGKILL)

lifecycle.launched = die
asyncio.run(lifecycle.start_component(Launches(ClusterPaths(root)), "etcd", why="started"))
"""


def _is_zombie(pid: str) -> bool:
    return ") Z" in Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")


async def test_a_component_whose_pid_file_was_lost_runs_and_is_stopped(
    runtime: BinaryRuntime, paths: ClusterPaths
) -> None:
    await runtime.install(plan(*SLEEP))
    await runtime.start(CLUSTER)
    running = process(paths)
    (paths.pids / "etcd.pid").unlink()

    assert await runtime.states(CLUSTER) == {ETCD: State.RUNNING}
    await runtime.stop(CLUSTER)

    assert not running.is_alive


@pytest.mark.parametrize("left", ["", "1 2 3\n"])
async def test_a_component_whose_pid_file_was_lost_is_not_launched_twice(
    runtime: BinaryRuntime, paths: ClusterPaths, left: str
) -> None:
    await runtime.install(plan(*SLEEP))
    await runtime.start(CLUSTER)
    running = process(paths)
    (paths.pids / "etcd.pid").write_text(left, encoding="ascii")

    await runtime.start(CLUSTER)

    assert process(paths) == running
    await runtime.uninstall(CLUSTER)
    assert not running.is_alive


async def test_a_component_is_not_taken_for_another_with_the_same_command(
    runtime: BinaryRuntime, paths: ClusterPaths
) -> None:
    both = {**plan(*SLEEP).components, **plan(*SLEEP, name=KUBE_APISERVER).components}
    await runtime.install(Plan(cluster=CLUSTER, components=both))
    await runtime.start(CLUSTER, ETCD)

    await runtime.stop(CLUSTER, KUBE_APISERVER)

    assert await runtime.states(CLUSTER) == {ETCD: State.RUNNING, KUBE_APISERVER: State.STOPPED}


@pytest.mark.parametrize(("name", "parts"), [("etcd", 2), ("audit", 1)])
async def test_only_logs_of_components_are_rotated(
    runtime: BinaryRuntime, paths: ClusterPaths, name: str, parts: int
) -> None:
    await runtime.install(plan(*SLEEP))
    log = paths.log(ComponentName(name))
    log.touch()
    os.truncate(log, logfiles.MAX_BYTES + 1)

    async for _ in runtime.logs(CLUSTER, ComponentName(name)):
        pass

    # The API server does not append to an audit log that it has rotated: cut, it would begin with a hole.
    assert len(logfiles.parts(log)) == parts


async def test_what_only_works_in_the_folder_of_a_cluster_is_left_alone(
    runtime: BinaryRuntime, paths: ClusterPaths
) -> None:
    await runtime.install(plan(*SLEEP))
    shell = await asyncio.create_subprocess_exec(
        "/bin/sleep", "60", cwd=paths.root, start_new_session=True
    )

    await runtime.stop(CLUSTER)

    assert shell.returncode is None
    shell.kill()
    await shell.wait()


async def test_a_component_stopped_on_purpose_is_not_launched_again(
    runtime: BinaryRuntime, paths: ClusterPaths
) -> None:
    await runtime.install(plan(*SLEEP))
    await runtime.start(CLUSTER)
    await runtime.stop(CLUSTER)

    await start_component(Launches(paths), ETCD, why="it had died", even_if_stopped=False)

    assert await runtime.states(CLUSTER) == {ETCD: State.STOPPED}


async def test_the_keeper_is_gone_once_all_has_been_stopped(
    runtime: BinaryRuntime, paths: ClusterPaths
) -> None:
    await runtime.install(plan(*SLEEP, restart=True))
    await runtime.start(CLUSTER)
    keeper = process(paths, ComponentName("keeper"))
    assert keeper.is_alive

    await runtime.stop(CLUSTER)

    assert not keeper.is_alive


async def test_a_component_that_leaves_the_plan_is_stopped(
    runtime: BinaryRuntime, paths: ClusterPaths
) -> None:
    await runtime.install(plan(*SLEEP))
    await runtime.start(CLUSTER)
    gone = process(paths)

    await runtime.install(plan(*SLEEP, name=KUBE_APISERVER))

    assert not gone.is_alive
    assert await runtime.states(CLUSTER) == {KUBE_APISERVER: State.STOPPED}


@pytest.mark.parametrize("content", [None, "", "{", "{}"])
async def test_uninstalling_stops_what_runs_although_its_launch_file_is_lost(
    runtime: BinaryRuntime, paths: ClusterPaths, content: str | None
) -> None:
    await runtime.install(plan(*SLEEP))
    await runtime.start(CLUSTER)
    running = process(paths)
    launch = paths.launch / "etcd.json"
    launch.unlink() if content is None else launch.write_text(content, encoding="utf-8")

    await runtime.uninstall(CLUSTER)

    assert not running.is_alive
    assert not paths.pids.exists()


async def test_uninstalling_kills_at_once_and_writes_nothing(
    host: Host, paths: ClusterPaths
) -> None:
    # It would be asked to end for an hour, were it asked.
    runtime = BinaryRuntime(host, grace=3600)
    await runtime.install(plan(*DEAF))
    await runtime.start(CLUSTER)
    process = supervise.read_pid_file(paths.pids / "etcd.pid")
    assert process

    with full_disk():
        await runtime.uninstall(CLUSTER)

    assert not process.is_alive
    assert not paths.pids.exists()


async def test_a_program_of_another_machine_is_an_error_that_names_it(
    runtime: BinaryRuntime, tmp_path: Path
) -> None:
    foreign = tmp_path / "foreign"
    program = Path("/bin/sleep").read_bytes()
    foreign.write_bytes(program[:18] + b"\xff\xff" + program[20:])
    foreign.chmod(0o755)
    await runtime.install(plan(str(foreign)))

    with pytest.raises(ComponentError, match=f"{foreign} is a program for a processor"):
        await runtime.start(CLUSTER)


@pytest.mark.parametrize(("number", "is_said"), [(9, True), (0, False)])
async def test_the_log_says_which_signal_has_ended_a_program(
    runtime: BinaryRuntime, paths: ClusterPaths, number: int, is_said: bool
) -> None:
    await runtime.install(plan("/bin/sh", "-c", f"kill -{number} $$"))
    await runtime.start(CLUSTER)

    async with asyncio.timeout(60):
        while (await runtime.states(CLUSTER))[ETCD] is State.RUNNING:
            await asyncio.sleep(0.01)

    assert ("killed by signal 9" in paths.log(ETCD).read_text()) is is_said


async def test_a_program_that_the_kernel_refuses_is_an_error_with_what_was_said(
    runtime: BinaryRuntime, tmp_path: Path
) -> None:
    broken = tmp_path / "broken"
    broken.write_text("#!/no/such/interpreter\n")
    broken.chmod(0o755)
    await runtime.install(plan(str(broken)))

    with pytest.raises(ComponentError, match=f"{broken} cannot be executed") as caught:
        await runtime.start(CLUSTER)

    assert caught.value.detail
    assert str(broken) in caught.value.detail


async def test_a_pid_file_of_an_earlier_boot_or_a_later_process_names_no_component(
    runtime: BinaryRuntime, paths: ClusterPaths
) -> None:
    await runtime.install(plan(*SLEEP))
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    for content in (f"{os.getpid()} 1 {boot}", f"{os.getpid()} 1 another"):
        (paths.pids / "etcd.pid").write_text(content, encoding="ascii")

        assert await runtime.states(CLUSTER) == {ETCD: State.STOPPED}
        await runtime.stop(CLUSTER)
        assert not (paths.pids / "etcd.pid").exists()


async def test_stopping_what_was_never_installed_makes_nothing(
    runtime: BinaryRuntime, paths: ClusterPaths
) -> None:
    await runtime.stop(CLUSTER)
    await runtime.uninstall(CLUSTER)

    assert not paths.root.exists()


async def test_launch_files_are_for_their_owner_only(
    runtime: BinaryRuntime, paths: ClusterPaths
) -> None:
    await runtime.install(plan(*SLEEP))

    launch = paths.launch / "etcd.json"
    assert launch.stat().st_mode & 0o777 == 0o600
    assert json.loads(launch.read_text(encoding="utf-8"))["argv"] == list(SLEEP)


async def test_a_machine_without_upstream_programs_is_refused_in_one_sentence(
    runtime: BinaryRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    await runtime.check()
    machine = os.uname_result((*os.uname()[:4], "riscv64"))
    monkeypatch.setattr(os, "uname", lambda: machine)

    with pytest.raises(UnavailableError, match="needs Linux on amd64 or arm64"):
        await runtime.check()
