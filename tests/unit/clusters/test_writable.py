"""Before anything is stopped for writes, etcd must take them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from kwokctl.clusters.etcd_quota import demand_writable
from kwokctl.clusters.state.home import cluster_name
from kwokctl.errors import CapacityError
from kwokctl.etcd import shim
from kwokctl.etcd.kv.kv import Kv
from tests.support.grpc_server import Server, Session
from tests.support.http2_peer import answer

rpc: Any = shim.load().etcdrpc


@asynccontextmanager
async def _etcd(*kinds: int) -> AsyncIterator[Kv]:
    """Run an etcd that has raised alarms."""
    raised = [rpc.AlarmMember(memberID=1, alarm=kind) for kind in kinds]
    said: bytes = rpc.AlarmResponse(alarms=raised).SerializeToString()

    def reply(session: Session, stream: int, content: bytes) -> bytes:
        return answer(stream, said)

    with TemporaryDirectory(prefix="etcd-") as folder:
        async with Server(reply).listening(Path(folder, "s")) as target, Kv(target) as kv:
            yield kv


async def test_an_etcd_that_refuses_every_write_is_named_with_the_remedy() -> None:
    async with _etcd(rpc.NOSPACE) as kv:
        with pytest.raises(CapacityError, match=r"alarm NOSPACE.*nothing was changed") as raised:
            await demand_writable(kv, cluster_name("dev"))
    assert raised.value.hint == "make room with: kwokctl --name dev doctor --fix"


async def test_an_etcd_without_that_alarm_takes_writes() -> None:
    async with _etcd() as kv:
        await demand_writable(kv, cluster_name("dev"))
