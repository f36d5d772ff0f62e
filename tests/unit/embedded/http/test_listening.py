"""Where a server listens, and how connections are accepted."""

import asyncio
import socket
from contextlib import aclosing
from pathlib import Path

import pytest

from kwokctl.embedded.http.listening import (
    accepted,
    listening_sockets,
    listening_sockets_nearby,
    server_tls,
)
from kwokctl.embedded.http.messages import (
    Answer,
    Request,
)
from kwokctl.embedded.http.route_table import Route
from kwokctl.errors import ConfigError, UnavailableError
from tests.support.kubelet_rig import serving_kubelet


async def test_other_work_is_done_between_two_connections_that_wait_to_be_accepted() -> None:
    [listening] = listening_sockets(["127.0.0.1"], 0)
    port = listening.getsockname()[1]
    clients = [socket.create_connection(("127.0.0.1", port)) for _ in range(3)]
    turns: list[str] = []

    async def accept() -> None:
        async with aclosing(accepted(listening)) as found:
            async for each in found:
                each.close()
                turns.append("accepted")

    async def work() -> None:
        while turns.count("accepted") < len(clients):
            turns.append("work")
            await asyncio.sleep(0)

    accepting = asyncio.create_task(accept())
    await work()
    accepting.cancel()
    await asyncio.wait([accepting])
    for each in (*clients, listening):
        each.close()

    assert "accepted accepted" not in " ".join(turns)


def test_an_address_that_is_taken_is_named() -> None:
    [taken] = listening_sockets(["127.0.0.1"], 0)
    with taken, pytest.raises(UnavailableError, match="cannot serve on"):
        listening_sockets(["127.0.0.1"], taken.getsockname()[1])


def test_one_of_several_that_share_nodes_takes_a_free_port_beside_another(
    caplog: pytest.LogCaptureFixture,
) -> None:
    [taken] = listening_sockets(["127.0.0.1"], 0)
    port = taken.getsockname()[1]
    with taken:
        [found] = listening_sockets_nearby(["127.0.0.1"], port, serving="kubelets")

    with found:
        assert found.getsockname()[1] not in (0, port)
    assert f"port {port} is taken: kubelets are at port" in caplog.text


def test_an_address_that_does_not_exist_is_refused_though_any_port_would_do() -> None:
    with pytest.raises(UnavailableError, match="cannot serve on"):
        listening_sockets_nearby(["192.0.2.1"], 10247, serving="kubelets")


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        server_tls(tmp_path / "a", tmp_path / "b", None)


async def test_a_server_on_loopback_is_reached_at_every_loopback_address_and_tells_which(
    tmp_path: Path,
) -> None:
    async def tell(request: Request) -> Answer:
        return Answer(200, request.local_host.encode())

    async with serving_kubelet([Route(path="/at", answer=tell)], tmp_path) as at:
        answers = [await at.ask("GET /at HTTP/1.1", host=f"127.18.0.{n}") for n in (1, 7)]

    assert [each.rpartition("\n")[2] for each in answers] == ["127.18.0.1", "127.18.0.7"]


def test_both_families_share_a_port() -> None:
    found = listening_sockets(["0.0.0.0", "::"], 0)

    assert len({each.getsockname()[1] for each in found}) == 1
    for each in found:
        each.close()


def test_a_server_on_loopback_and_at_another_address_shares_its_port() -> None:
    found = listening_sockets(["127.0.0.1", "127.18.0.1"], 0)

    hosts, ports = zip(*(each.getsockname() for each in found), strict=True)
    assert hosts == ("127.0.0.1", "127.18.0.1")
    assert len(set(ports)) == 1
    for each in found:
        each.close()


def test_a_server_on_loopback_does_not_need_every_address() -> None:
    with socket.create_server(("127.18.0.1", 0)) as other:
        port = other.getsockname()[1]
        [listening] = listening_sockets(["127.0.0.1"], port, whole_loopback=True)

    assert listening.getsockname() == ("127.0.0.1", port)
    listening.close()
