"""A recording in the background that is not started, or whose start is interrupted."""

import asyncio
from pathlib import Path

import pytest

from kwokctl.clusters.state.home import Home, cluster_name
from kwokctl.errors import BusyError, ConflictError
from kwokctl.host.noted_locks import locked
from kwokctl.host.paths import WorkDir
from kwokctl.host.processes.supervise import read_pid_file
from kwokctl.measure.record.record_file import RecordWriter
from kwokctl.measure.record.record_lines import RunMoment
from kwokctl.measure.running.background import running, start
from tests.support.fake_api_server import Reply, Request, serving
from tests.support.measured import header

NAME = cluster_name("kwok")
KUBECONFIG = """
current-context: x
clusters: [{{name: x, cluster: {{server: "{url}"}}}}]
contexts: [{{name: x, context: {{cluster: x}}}}]
"""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(workdir=WorkDir(tmp_path), cache=tmp_path)


async def test_an_earlier_record_is_not_taken_for_the_one_that_begins(
    home: Home, tmp_path: Path
) -> None:
    with RecordWriter(tmp_path / "run.jsonl") as writer:
        writer.begin(header())
        writer.add(RunMoment(1, "begin"))

    with pytest.raises(ConflictError, match="exists already"):
        await start(home, NAME, (), tmp_path / "run.jsonl")


async def test_two_commands_do_not_start_one_at_once(home: Home, tmp_path: Path) -> None:
    busy = pytest.raises(BusyError, match="the recording of 'kwok' is in use")
    with locked(home.workdir.recording_lock(NAME), what="the recording"), busy:
        await start(home, NAME, (), tmp_path / "run.jsonl")


async def test_an_interrupted_start_leaves_no_recording(home: Home, tmp_path: Path) -> None:
    async def silence(_request: Request, _reply: Reply) -> None:
        asked.set()
        await asyncio.Event().wait()

    asked = asyncio.Event()
    async with asyncio.timeout(60), serving(silence) as server:
        kubeconfig = tmp_path / "kubeconfig"
        kubeconfig.write_text(KUBECONFIG.format(url=server.url), encoding="utf-8")
        words = (f"--kubeconfig={kubeconfig}",)
        starting = asyncio.create_task(start(home, NAME, words, tmp_path / "run.jsonl"))
        await asked.wait()
        process = read_pid_file(home.workdir.measurements / f"{NAME}.pid")
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting

    assert process is not None
    assert not process.is_alive
    assert running(home, NAME) is None
