""""""

import pytest

from kwokctl.model import ETCD
from runtimes.engine.endpoint import Endpoint
from runtimes.engine.engine_client import Container, Engine
from runtimes.kind.kind_node import Node
from tests.support.fake_engine import FakeEngine, framed

_TOP = "GET /containers/c/top"
_FAILURE = (500, {"message": "openat2: no such file"})


@pytest.fixture
def node(fake: FakeEngine) -> Node:
    container = Container(id="c", name="n", labels={}, sources=frozenset(), is_running=True)
    return Node(Engine(Endpoint(url=fake.url)), container)


def _journal(fake: FakeEngine, *lines: str) -> None:
    """Let every command in the container write these lines."""
    fake.answers["POST /containers/c/exec"] = (201, {"Id": "e"})
    fake.answers["POST /exec/e/start"] = (200, framed("\n".join(lines).encode()))
    fake.answers["GET /exec/e/json"] = (200, {"ExitCode": 0})


async def test_a_node_complains_in_the_errors_of_its_kubelet(fake: FakeEngine, node: Node) -> None:
    fake.answers[_TOP] = (200, {"Processes": [["1", "/sbin/init"]]})
    starts = [f"I1123 10:00:00.1 1 server.go:1] start {n}" for n in range(50)]
    _journal(fake, "E1123 10:00:00.0 1 run.go:72] no such group", *starts)

    assert await node.complaint([ETCD]) == "E1123 10:00:00.0 1 run.go:72] no such group"


async def test_a_kubelet_without_errors_is_quoted_with_its_last_lines(
    fake: FakeEngine, node: Node
) -> None:
    fake.answers[_TOP] = (200, {"Processes": [["1", "/sbin/init"]]})
    _journal(fake, *(f"line {n}" for n in range(50)))

    said = await node.complaint([ETCD])

    assert said.splitlines()[0] == "line 30"
    assert said.splitlines()[-1] == "line 49"


async def test_containerd_says_why_the_service_of_the_kubelet_is_missing(
    fake: FakeEngine, node: Node
) -> None:
    fake.answers[_TOP] = (200, {"Processes": [["1", "/sbin/init"]]})
    begin = 'level=warning msg="failed to load plugin io.containerd.'
    cause = f'{begin}grpc.v1.cri" error="failed to create fsnotify watcher: too many open files"'
    unused = f'{begin}snapshotter.v1.devmapper" error="devmapper not configured"'
    _journal(fake, unused, cause, "E1123 10:00:00.0 1 run.go:72] unknown service")

    assert await node.complaint([ETCD]) == cause


async def test_the_kubelet_is_quoted_when_programs_cannot_be_listed(
    fake: FakeEngine, node: Node
) -> None:
    fake.answers[_TOP] = _FAILURE
    _journal(fake, "E1123 10:00:00.0 1 run.go:72] no such group")

    assert "no such group" in await node.complaint([ETCD])


async def test_a_node_that_cannot_be_read_at_all_is_not_passed_over_in_silence(
    fake: FakeEngine, node: Node
) -> None:
    fake.answers[_TOP] = _FAILURE
    fake.answers["POST /containers/c/exec"] = (500, {"message": "the container is gone"})

    said = await node.complaint([ETCD])

    assert "openat2: no such file" in said
    assert "the container is gone" in said
