"""A script and `Crew` find, and end, what the other one has launched."""

import subprocess
from collections.abc import AsyncIterator, Iterable, Iterator
from pathlib import Path

import pytest

from kwokctl.host.paths import ClusterPaths
from kwokctl.host.processes.launches import KEEPER
from kwokctl.host.processes.manager import Crew
from kwokctl.model import (
    ETCD,
    KUBE_APISERVER,
    Artifact,
    ClusterName,
    Component,
    OwnManner,
    Plan,
    State,
)
from kwokctl.script.posix_shell import quoted, written
from kwokctl.script.steps import Action, Script, ShellLines
from tests.support.eventually import eventually

_SLEEPS = ("/bin/sh", "-c", 'trap "exit 0" TERM; echo "$COLOUR"; while :; do sleep 0.1; done')


def plan(*, restart: bool = False, own: OwnManner | None = None) -> Plan:
    component = Component(
        name=ETCD,
        artifact=Artifact(name=ETCD, version="v3", command=_SLEEPS),
        args=("a b", "$HOME"),
        env={"COLOUR": "red green"},
        own=own,
    )
    return Plan(cluster=ClusterName("dev"), components={ETCD: component}, restart=restart)


@pytest.fixture
async def paths(tmp_path: Path) -> AsyncIterator[ClusterPaths]:
    paths = ClusterPaths(tmp_path / "dev")
    yield paths
    await Crew(paths, grace=0.1).uninstall()


def run(paths: ClusterPaths, steps: Iterable[Action]) -> None:
    lead = ShellLines(f"cluster={quoted(str(paths.root))}")
    text = written(Script(command="test", steps=(lead, *steps)))
    done = subprocess.run(
        ["sh"], input=text, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr


async def test_what_a_script_has_launched_runs_for_kwokctl(paths: ClusterPaths) -> None:
    crew = Crew(paths)
    script = crew.script(plan())
    run(paths, [*script.install(), *script.start(ETCD)])

    assert crew.states() == {ETCD: State.RUNNING}
    assert crew.words(ETCD) == [*_SLEEPS, "a b", "$HOME"]
    assert "red green" in paths.log(ETCD).read_text()
    await crew.stop([ETCD])
    assert crew.states() == {ETCD: State.STOPPED}


@pytest.mark.parametrize("is_scripted", [True, False])
async def test_a_component_of_the_user_works_in_its_own_folder(
    paths: ClusterPaths, tmp_path: Path, is_scripted: bool
) -> None:
    there = tmp_path / "there it works"
    there.mkdir()
    crew, described = Crew(paths), plan(own=OwnManner(folder=str(there)))
    if is_scripted:
        script = crew.script(described)
        run(paths, [*script.install(), *script.start(ETCD)])
    else:
        await crew.install(described)
        await crew.start([ETCD])

    number = paths.pids.joinpath("etcd.pid").read_text().split()[0]
    await eventually(lambda: Path(f"/proc/{number}/cwd").readlink() == there)
    assert crew.words(ETCD) == [*_SLEEPS, "a b", "$HOME"]


async def test_a_script_ends_what_kwokctl_has_launched(paths: ClusterPaths) -> None:
    crew = Crew(paths)
    await crew.install(plan())
    await crew.start([ETCD])
    run(paths, crew.script(plan()).stop(ETCD))

    assert crew.states() == {ETCD: State.STOPPED}
    assert (paths.pids / "etcd.stopped").exists()


async def test_a_script_leaves_what_runs_as_it_is(paths: ClusterPaths) -> None:
    crew = Crew(paths)
    await crew.install(plan())
    await crew.start([ETCD])
    before = (paths.pids / "etcd.pid").read_text()
    run(paths, crew.script(plan()).start(ETCD))

    assert (paths.pids / "etcd.pid").read_text() == before


@pytest.fixture
def stranger() -> Iterator[subprocess.Popen[bytes]]:
    """A process of another program."""
    other = subprocess.Popen(["sleep", "60"], start_new_session=True)
    yield other
    other.kill()
    other.wait()


async def test_a_script_does_not_end_a_process_that_has_the_number_of_a_former_one(
    paths: ClusterPaths, stranger: subprocess.Popen[bytes]
) -> None:
    crew = Crew(paths)
    await crew.install(plan())
    (paths.pids / "etcd.pid").write_text(f"{stranger.pid} 1 former-boot\n")
    run(paths, crew.script(plan()).stop(ETCD))

    assert stranger.poll() is None


async def test_a_script_writes_the_files_that_kwokctl_writes(paths: ClusterPaths) -> None:
    crew = Crew(paths)
    await crew.install(plan(restart=True))
    files = {file: file.read_bytes().rstrip() for file in paths.launch.iterdir()}
    modes = {file: file.stat().st_mode for file in paths.launch.iterdir()}
    await crew.uninstall()
    run(paths, crew.script(plan(restart=True)).install())

    assert {file: file.read_bytes().rstrip() for file in paths.launch.iterdir()} == files
    assert {file: file.stat().st_mode for file in paths.launch.iterdir()} == modes


async def test_what_restarts_components_comes_and_goes_with_them(paths: ClusterPaths) -> None:
    crew = Crew(paths)
    script = crew.script(plan(restart=True))
    run(paths, [*script.install(), *script.start(ETCD)])
    assert (paths.pids / f"{KEEPER}.pid").exists()
    run(paths, script.stop(ETCD))

    assert not (paths.pids / f"{KEEPER}.pid").exists()
    assert crew.states() == {ETCD: State.STOPPED}


async def test_a_script_removes_all_that_was_written(paths: ClusterPaths) -> None:
    crew = Crew(paths)
    script = crew.script(plan())
    run(paths, [*script.install(), *script.start(ETCD), *script.uninstall()])

    assert not paths.launch.exists()
    assert not paths.pids.exists()


async def test_a_wait_asks_whether_the_component_runs(paths: ClusterPaths) -> None:
    assert Crew(paths).script(plan()).running(KUBE_APISERVER).words == (KUBE_APISERVER,)
