import asyncio
from pathlib import Path

import pytest

from kwokctl.clusters.stopped_components import demand_running, outage, watch_etcd
from kwokctl.components.catalog import catalog, usual_options
from kwokctl.errors import ComponentError, EtcdGoneError
from kwokctl.etcd.grpc.channel import Channel
from kwokctl.model import ETCD, KUBE_APISERVER, ClusterName, State
from tests.support import virtual_time
from tests.support.fake_runtime import FakeRuntime
from tests.support.listener import Listener
from tests.support.memory_etcd import MemoryEtcd
from tests.support.saved_cluster import home_with


class Etcd(MemoryEtcd):
    """Answers or does not, as a test says for each second."""

    def __init__(self, answers: str) -> None:
        super().__init__()
        self.channel: Channel = self  # type: ignore[assignment]  # all that is called is `call`
        self.answers = iter(answers)

    async def call(self, path: str, message: bytes, *, within: float) -> bytes:
        answer = next(self.answers, "+")
        if answer == "b":
            await asyncio.sleep(within)
        if answer != "+":
            raise EtcdGoneError("etcd cannot be reached")
        return b""


async def watched(answers: str, listener: Listener) -> None:
    async with asyncio.timeout(60):
        await watch_etcd(Etcd(answers), listener)


def test_the_loss_and_the_return_of_etcd_are_reported_once_each() -> None:
    listener = Listener()

    with pytest.raises(TimeoutError):
        virtual_time.run(watched("++---++--------+", listener))

    assert listener.warnings == ["etcd cannot be reached; waiting for it"] * 2
    assert listener.notes == ["etcd answers again"] * 2


def test_an_etcd_that_is_busy_is_waited_for() -> None:
    listener = Listener()

    with pytest.raises(TimeoutError):
        virtual_time.run(watched("+bbbbbb+", listener))

    assert (len(listener.warnings), len(listener.notes)) == (1, 1)


def test_an_etcd_that_does_not_come_back_ends_what_waits_for_it() -> None:
    listener = Listener()

    with pytest.raises(EtcdGoneError):
        virtual_time.run(watched("++" + 30 * "-", listener))

    assert len(listener.warnings) == 1


@pytest.mark.parametrize(
    ("log", "begins"),
    [(b"panic: no space left on device\n", "the disk at '"), (b"signal: killed\n", "start it")],
)
async def test_the_remedy_for_a_component_that_a_full_disk_has_ended(
    tmp_path: Path, log: bytes, begins: str
) -> None:
    found = dict.fromkeys(catalog(), State.RUNNING) | {ETCD: State.STOPPED}
    name = ClusterName("main")
    home = home_with(tmp_path, name, usual_options(), FakeRuntime(found=found, log=log))

    down = await outage(home, name)
    with pytest.raises(ComponentError, match="etcd does not run") as demanded:
        await demand_running(home, home.runtime("fake"), name, KUBE_APISERVER, ETCD)

    assert down
    assert down.hint
    assert down.hint.startswith(begins)
    assert down.hint.endswith("start it with: kwokctl start cluster --name main")
    assert demanded.value.hint == down.hint


async def test_what_runs_may_be_used(tmp_path: Path) -> None:
    name = ClusterName("main")
    found = dict.fromkeys(catalog(), State.RUNNING)
    home = home_with(tmp_path, name, usual_options(), FakeRuntime(found=found))

    await demand_running(home, home.runtime("fake"), name, KUBE_APISERVER, ETCD)
