"""A runtime with two components that stand in for etcd and kube-apiserver."""

import socket
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from kwokctl import registry
from kwokctl.host.machine import Host
from kwokctl.host.paths import WorkDir
from kwokctl.model import (
    ETCD,
    KUBE_APISERVER,
    Artifact,
    ClusterName,
    Component,
    ComponentName,
    HttpProbe,
    Plan,
)
from kwokctl.runtime import Runtime

SERVER = Path(__file__).parents[1] / "support" / "programs" / "server.py"
CLUSTER = ClusterName("contract")


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(WorkDir(tmp_path))


@pytest.fixture(params=["binary"])
async def runtime(request: pytest.FixtureRequest, host: Host) -> AsyncIterator[Runtime]:
    made = registry.load(request.param, host)
    yield made
    await made.uninstall(CLUSTER)


def component(name: ComponentName, *words: str) -> Component:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    return Component(
        name=name,
        artifact=Artifact(name=name, version="v0", command=(sys.executable, "-S", str(SERVER))),
        args=(str(port), *words),
        ready=(HttpProbe(url=f"http://127.0.0.1:{port}/health"),),
    )


@pytest.fixture
def plan() -> Plan:
    etcd = component(ETCD, "--say=I am etcd")
    api = replace(component(KUBE_APISERVER, "--say=I am the API"), uses=frozenset({ETCD}))
    return Plan(cluster=CLUSTER, components={ETCD: etcd, KUBE_APISERVER: api})


@pytest.fixture
def plan_of() -> Callable[..., Plan]:
    """Make a plan of one component, etcd, that is given these words."""

    def make(*words: str, restart: bool = False) -> Plan:
        return Plan(cluster=CLUSTER, components={ETCD: component(ETCD, *words)}, restart=restart)

    return make
