"""A runtime with two servers that stand in for components."""

import asyncio
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from pathlib import Path

import pytest

from kwokctl import registry
from kwokctl.errors import KwokctlError
from kwokctl.host.machine import Host
from kwokctl.host.paths import WorkDir
from kwokctl.model import (
    Artifact,
    ClusterName,
    Component,
    ComponentName,
    HttpProbe,
    Mount,
    Plan,
    Port,
    State,
)
from kwokctl.replacing import replace
from kwokctl.runtime import Runtime
from tests.support import contract_node
from tests.support.contract_node import Node
from tests.support.node_image import NoImageError
from tests.support.ports import free_port
from tests.support.runtime_page import NAME as WRITTEN

SERVER = Path(__file__).parents[1] / "support" / "programs" / "server.py"
PYTHON = os.path.realpath(sys.executable)
CLUSTER = ClusterName("contract")
FIRST, SECOND = ComponentName("first"), ComponentName("second")
States = Mapping[ComponentName, State]
Asked = Callable[[], Awaitable[States]]


IN_CONTAINERS = [pytest.mark.docker, pytest.mark.timeout(600, func_only=True)]
ON_KIND = [
    pytest.mark.docker,
    pytest.mark.components,
    pytest.mark.kind,
    pytest.mark.timeout(600, func_only=True),
]


@pytest.fixture(
    scope="module",
    params=[
        "binary",
        pytest.param("docker", marks=IN_CONTAINERS),
        pytest.param("kind", marks=ON_KIND),
        WRITTEN,
    ],
)
def kind(request: pytest.FixtureRequest) -> Iterator[str]:
    """Name a runtime, and have what it needs."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param in {"docker", "kind"}:
            patch.setenv("DOCKER_HOST", request.getfixturevalue("engine"))
        if request.param == WRITTEN:
            folder = str(request.getfixturevalue("written_runtime"))
            patch.syspath_prepend(folder)
            patch.setenv("PYTHONPATH", folder)
        yield str(request.param)


@pytest.fixture(scope="module")
def node(kind: str) -> Iterator[Node | None]:
    """What the stand-ins are placed in, where that is not made for each test."""
    if kind != "kind":
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="kwokctl-contract-") as folder:
        try:
            node = asyncio.run(contract_node.node(Path(folder), CLUSTER))
        except (NoImageError, KwokctlError) as e:
            said = (getattr(e, "detail", None) or "").splitlines()[-3:]
            pytest.skip(f"no node of kind: {' / '.join([str(e), *said])}")
        yield node
        asyncio.run(node.runtime.uninstall(CLUSTER))


@pytest.fixture
def host(node: Node | None, tmp_path: Path) -> Host:
    return node.host if node else Host(WorkDir(tmp_path))


@pytest.fixture
async def runtime(kind: str, host: Host, node: Node | None) -> AsyncIterator[Runtime]:
    made = registry.load(kind, host)
    if node:
        await node.enter(component(made, name, node) for name in (FIRST, SECOND))
    yield made
    if node:
        await node.leave()
    else:
        await made.uninstall(CLUSTER)


@pytest.fixture
def states(runtime: Runtime, base: Plan) -> Asked:
    """Ask the runtime for the states of all but what the node cannot be without."""

    async def ask() -> States:
        found = await runtime.states(CLUSTER)
        return {name: state for name, state in found.items() if name not in base.components}

    return ask


def component(runtime: Runtime, name: ComponentName, node: Node | None, *words: str) -> Component:
    """Describe a server that stands in for a component, where the runtime will place it.

    Its program is this Python, which is not static: it is given the folders that it needs.
    """
    port = node.port(name) if node else free_port()
    site = runtime.site(CLUSTER)
    return Component(
        name=name,
        artifact=Artifact(name=name, version="v0", command=(PYTHON, "-S", str(SERVER))),
        args=(str(port), f"--bind={site.bind(name)}", *words),
        env={"PYTHONHOME": sys.base_prefix},
        ports=(Port(name="http", port=site.port(name, port), host_port=port),),
        mounts=tuple(Mount(host_path=path, mount_path=site.path(path)) for path in _needed()),
        ready=(HttpProbe(url=f"http://{site.address(name, port)}/health"),),
    )


def _needed() -> list[Path]:
    # Not whole trees: images have their programs in one of them.
    libraries = ("/lib", "/lib64", "/usr/lib", f"{sys.base_prefix}/lib")
    places = [*map(Path, libraries), SERVER.parent]
    return [path for path in dict.fromkeys(places) if path.is_dir()]


@pytest.fixture
def base(node: Node | None) -> Plan:
    """What stand-ins are added to."""
    return node.plan if node else Plan(cluster=CLUSTER, components={})


@pytest.fixture
def plan(runtime: Runtime, node: Node | None, base: Plan) -> Plan:
    first = component(runtime, FIRST, node, "--say=I am the first")
    second = component(runtime, SECOND, node, "--say=I am the second")
    second = replace(second, uses=frozenset({FIRST}))
    return replace(base, components={**base.components, FIRST: first, SECOND: second})


@pytest.fixture
def plan_of(runtime: Runtime, node: Node | None, base: Plan) -> Callable[..., Plan]:
    """Make a plan of one stand-in, the first, that is given these words."""

    def make(*words: str, restart: bool = False) -> Plan:
        first = component(runtime, FIRST, node, *words)
        return replace(base, components={**base.components, FIRST: first}, restart=restart)

    return make
