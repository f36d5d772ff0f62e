import shutil
import subprocess
import sys
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path

import pytest

from kwokctl.clusters.doctor.machine import orphans
from kwokctl.clusters.state.locks import alone
from kwokctl.components.catalog import usual_options
from kwokctl.model import ClusterName
from tests.support.examined import machine, whats
from tests.support.fake_runtime import FakeRuntime
from tests.support.saved_cluster import save_cluster

GONE = ClusterName("gone")
WAITING = "import sys; print(1, flush=True); sys.stdin.read()"


class Remaining(FakeRuntime):
    """Still has the containers of a cluster."""

    async def remains(self) -> Mapping[ClusterName, Collection[str]]:
        return {GONE: ["kwok-gone-etcd"]} if "uninstall" not in self.asked else {}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a cluster."""
    found = machine(tmp_path).home.paths(GONE).root
    found.mkdir(parents=True)
    return found


def launched(folder: Path, *words: str) -> "subprocess.Popen[str]":
    """Start a program in a folder, as the leader of a session."""
    program = [sys.executable, "-c", WAITING, *words]
    started = subprocess.Popen(
        program, cwd=folder, stdin=-1, stdout=-1, text=True, start_new_session=True
    )
    assert started.stdout
    started.stdout.readline()
    return started


async def test_a_component_of_a_cluster_that_is_gone_is_ended(tmp_path: Path, folder: Path) -> None:
    one = machine(tmp_path)
    with launched(folder, "kwokctl.controller") as left, launched(folder) as shell:
        shutil.rmtree(folder)
        [finding] = (await orphans.look(one)).findings
        assert finding.what == f"processes of a cluster 'gone' that is gone still run: {left.pid}"

        assert finding.repair
        await finding.repair.do()
        with suppress(ChildProcessError):
            left.wait(timeout=30)
        assert shell.poll() is None
        assert whats(await orphans.look(one)) == []
        shell.kill()


async def test_what_runs_of_a_cluster_that_exists_or_is_being_made_is_left_alone(
    tmp_path: Path, folder: Path
) -> None:
    one = machine(tmp_path)
    with launched(folder, "kwokctl.controller") as running:
        with alone(one.home.workdir, GONE):
            assert whats(await orphans.look(one)) == []
        assert len(whats(await orphans.look(one))) == 1
        save_cluster(one.home.workdir, GONE, usual_options())
        assert whats(await orphans.look(one)) == []
        running.kill()


async def test_containers_of_a_cluster_that_is_gone_are_removed(tmp_path: Path) -> None:
    runtime = Remaining()
    one = machine(tmp_path, runtime)
    finding = (await orphans.look(one)).findings[0]
    assert finding.what.endswith("'gone' that is gone are still there: kwok-gone-etcd")

    assert finding.repair
    await finding.repair.do()
    assert "uninstall" in runtime.asked
    assert whats(await orphans.look(one)) == []


async def test_containers_of_a_cluster_that_exists_stay(tmp_path: Path) -> None:
    one = machine(tmp_path, Remaining())
    save_cluster(one.home.workdir, GONE, usual_options())
    assert whats(await orphans.look(one)) == []
