"""A runtime with two components that stand in for etcd and kube-apiserver."""

import os
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
    Mount,
    Plan,
    Port,
)
from kwokctl.runtime import Runtime
from tests.support.runtime_page import NAME as WRITTEN

SERVER = Path(__file__).parents[1] / "support" / "programs" / "server.py"
PYTHON = os.path.realpath(sys.executable)
CLUSTER = ClusterName("contract")


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(WorkDir(tmp_path))


IN_CONTAINERS = [pytest.mark.docker, pytest.mark.timeout(120, func_only=True)]


@pytest.fixture(params=["binary", pytest.param("docker", marks=IN_CONTAINERS), WRITTEN])
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Name a runtime, and have what it needs."""
    if request.param == "docker":
        monkeypatch.setenv("DOCKER_HOST", request.getfixturevalue("engine"))
    if request.param == WRITTEN:
        folder = str(request.getfixturevalue("written_runtime"))
        monkeypatch.syspath_prepend(folder)
        monkeypatch.setenv("PYTHONPATH", folder)
    return str(request.param)


@pytest.fixture
async def runtime(kind: str, host: Host) -> AsyncIterator[Runtime]:
    made = registry.load(kind, host)
    yield made
    await made.uninstall(CLUSTER)


def component(runtime: Runtime, name: ComponentName, *words: str) -> Component:
    """Describe a server that stands in for a component, where the runtime will place it.

    Its program is this Python, which is not static: it is given the folders that it needs.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    site = runtime.site(CLUSTER)
    return Component(
        name=name,
        artifact=Artifact(name=name, version="v0", command=(PYTHON, "-S", str(SERVER))),
        args=(str(port), f"--bind={site.bind(name)}", *words),
        env={"PYTHONHOME": sys.base_prefix},
        ports=(Port(name="http", port=port, host_port=port),),
        mounts=tuple(Mount(host_path=path, mount_path=site.path(path)) for path in _needed()),
        ready=(HttpProbe(url=f"http://{site.address(name, port)}/health"),),
    )


def _needed() -> list[Path]:
    # Not whole trees: images have their programs in one of them.
    libraries = ("/lib", "/lib64", "/usr/lib", f"{sys.base_prefix}/lib")
    places = [*map(Path, libraries), SERVER.parent]
    return [path for path in dict.fromkeys(places) if path.is_dir()]


@pytest.fixture
def plan(runtime: Runtime) -> Plan:
    etcd = component(runtime, ETCD, "--say=I am etcd")
    api = component(runtime, KUBE_APISERVER, "--say=I am the API")
    api = replace(api, uses=frozenset({ETCD}))
    return Plan(cluster=CLUSTER, components={ETCD: etcd, KUBE_APISERVER: api})


@pytest.fixture
def plan_of(runtime: Runtime) -> Callable[..., Plan]:
    """Make a plan of one component, etcd, that is given these words."""

    def make(*words: str, restart: bool = False) -> Plan:
        etcd = component(runtime, ETCD, *words)
        return Plan(cluster=CLUSTER, components={ETCD: etcd}, restart=restart)

    return make
