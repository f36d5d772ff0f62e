from typing import Any

import pytest

from kwokctl.errors import UnavailableError
from runtimes.engine.endpoint import Endpoint
from runtimes.engine.engine_client import Engine
from runtimes.engine.site import extra_host, host_address
from tests.support.fake_engine import FakeEngine

NOBODYS, OWN = "192.0.2.1", "192.0.2.2"


async def test_an_address_of_this_machine_is_used_as_it_is(fake: FakeEngine) -> None:
    assert await host_address(Engine(Endpoint(url=fake.url)), "127.0.0.1") == "127.0.0.1"


@pytest.mark.parametrize(
    ("is_podman", "info", "address"),
    [(True, {"Rootless": False}, NOBODYS), (True, {"Rootless": True}, OWN), (False, {}, "")],
)
async def test_an_unassigned_address_is_usable_where_root_runs_podman_else_the_hosts_own_is(
    fake: FakeEngine, is_podman: bool, info: Any, address: str
) -> None:
    fake.is_podman = is_podman
    fake.answers["GET /info"] = (200, info)

    found = await host_address(Engine(Endpoint(url=fake.url)), NOBODYS, own=lambda: OWN)

    assert found == address


async def test_a_machine_without_an_address_is_not_reached_from_podman_without_root(
    fake: FakeEngine,
) -> None:
    fake.is_podman = True
    fake.answers["GET /info"] = (200, {"Rootless": True})

    with pytest.raises(UnavailableError, match="only at an address that is not loopback"):
        await host_address(Engine(Endpoint(url=fake.url)), NOBODYS, own=lambda: "")


@pytest.mark.parametrize(
    ("url", "gateway"),
    [("unix:///nobody/podman.sock", ""), ("tcp://127.0.0.1:1", NOBODYS)],
)
async def test_an_engine_without_gateway_or_on_another_kernel_is_not_queried(
    url: str, gateway: str
) -> None:
    assert await host_address(Engine(Endpoint(url=url)), gateway) == ""


def test_a_container_finds_the_host_by_its_address_or_as_its_engine_does() -> None:
    assert extra_host(NOBODYS) == f"host.kwokctl.internal:{NOBODYS}"
    assert extra_host("") == "host.kwokctl.internal:host-gateway"
