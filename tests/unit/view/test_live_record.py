"""A view of a cluster that is deleted meanwhile."""

import asyncio
from pathlib import Path

import pytest

from kwokctl.clusters.state.home import cluster_name
from kwokctl.errors import NotFoundError
from kwokctl.kube.kubeconfig.access import load_access
from kwokctl.kube.transport.pool import Pool
from kwokctl.measure.record.run_clock import RunClock
from kwokctl.view.live_record import LiveRecord
from kwokctl.view.state.cluster_state import ClusterState
from tests.support.changing_kind import ChangingKind
from tests.support.eventually import eventually
from tests.support.served_home import served_home

NAME = cluster_name("kwok")


async def test_a_view_ends_when_another_cluster_has_the_name(tmp_path: Path) -> None:
    async with asyncio.timeout(20), served_home(tmp_path, NAME, ChangingKind()) as home:
        kubeconfig = home.paths(NAME).own_kubeconfig
        async with Pool(load_access(kubeconfig)) as pool:
            state = ClusterState(RunClock(lambda: 1.0))
            following = asyncio.create_task(LiveRecord(home, NAME, pool, None, state).follow())
            await eventually(lambda: state.is_watched)
            kubeconfig.write_text("users: [{name: x, user: {token: other}}]", encoding="utf-8")

            with pytest.raises(NotFoundError, match="'kwok' was deleted while it was shown"):
                await following
