"""Which engines may be run without root, and what differs there."""

import os
from pathlib import Path
from typing import Any

import pytest

from kwokctl.errors import NotServedError, UnavailableError
from kwokctl.host.machine import Host
from kwokctl.host.paths import WorkDir
from kwokctl.model import ETCD, Artifact, Component, Limits
from runtimes.docker.engine_runtime import EngineRuntime
from runtimes.engine.endpoint import Endpoint
from runtimes.engine.engine_client import Engine
from runtimes.engine.privileges import demand_limits, demand_root, user_of_containers
from tests.support.fake_engine import FakeEngine

WITHOUT_ROOT = [{"Rootless": True}, {"SecurityOptions": ["name=seccomp", "name=rootless"]}]
LIMITED = Component(
    name=ETCD, artifact=Artifact(name=ETCD, version="v3"), limits=Limits(memory=1 << 30)
)


@pytest.fixture
def engine(fake: FakeEngine) -> Engine:
    return Engine(Endpoint(url=fake.url))


def runtime(engine: Engine, folder: Path) -> EngineRuntime:
    return EngineRuntime(Host(WorkDir(folder)), engine)


@pytest.mark.parametrize("info", WITHOUT_ROOT)
async def test_docker_without_root_is_refused(
    fake: FakeEngine, engine: Engine, tmp_path: Path, info: dict[str, Any]
) -> None:
    fake.answers["GET /info"] = (200, info)

    with pytest.raises(UnavailableError, match="runs without root") as caught:
        await runtime(engine, tmp_path).check()

    assert "DOCKER_HOST" in str(caught.value.hint)
    assert "--runtime podman" in str(caught.value.hint)


async def test_podman_without_root_runs_containers_but_no_nodes(
    fake: FakeEngine, engine: Engine, tmp_path: Path
) -> None:
    fake.is_podman = True
    fake.answers["GET /info"] = (200, WITHOUT_ROOT[0])

    await runtime(engine, tmp_path).check()
    with pytest.raises(UnavailableError, match="runs without root"):
        await demand_root(engine)


@pytest.mark.parametrize(
    ("rootless", "cgroups", "refused"), [(True, "1", True), (True, "2", False), (False, "1", False)]
)
async def test_limits_that_podman_would_leave_out_are_refused(
    fake: FakeEngine, engine: Engine, rootless: bool, cgroups: str, refused: bool
) -> None:
    info = {"Rootless": rootless, "CgroupVersion": cgroups}
    fake.is_podman = True
    fake.answers["GET /info"] = (200, info)
    if refused:
        with pytest.raises(NotServedError, match="'etcd' cannot have limits"):
            await demand_limits(engine, [LIMITED])
    else:
        await demand_limits(engine, [LIMITED])


def test_the_user_is_root_in_containers_without_root() -> None:
    assert user_of_containers(without_root=True) == "0:0"
    assert user_of_containers(without_root=False) == f"{os.getuid()}:{os.getgid()}"
