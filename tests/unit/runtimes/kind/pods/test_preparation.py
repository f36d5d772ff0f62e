from typing import Any

import pytest

from kwokctl.errors import UsageError
from runtimes.engine.endpoint import Endpoint
from runtimes.engine.engine_client import Engine
from runtimes.kind.pods.kubeadm import known_host
from tests.support.fake_engine import FakeEngine
from tests.support.options import changed
from tests.unit.runtimes.kind.plans import OPTIONS, plan

GATEWAY, OWN = "127.0.0.2", "192.0.2.7"
TRACED = plan(changed(OPTIONS, tracing_endpoint="127.0.0.1:4317"))


@pytest.fixture
def fake(fake: FakeEngine) -> FakeEngine:
    fake.answers["GET /networks"] = (200, [])
    return fake


def networks(*gateways: str) -> tuple[int, Any]:
    pools = [{"Gateway": each} for each in gateways]
    return (200, [{"Name": "kind", "Id": "n", "IPAM": {"Config": pools}}])


async def known(fake: FakeEngine, *, own: str = OWN) -> str:
    return await known_host(Engine(Endpoint(url=fake.url)), TRACED, lambda: own)


async def test_pods_that_dial_the_host_find_it_at_the_gateway_of_the_network(
    fake: FakeEngine,
) -> None:
    fake.answers["GET /networks"] = networks("fc00::1", GATEWAY)

    assert await known(fake) == GATEWAY


async def test_before_there_is_a_network_they_find_it_at_its_own_address(fake: FakeEngine) -> None:
    assert await known(fake) == OWN


async def test_a_machine_without_any_address_is_refused(fake: FakeEngine) -> None:
    with pytest.raises(UsageError, match="at an address that is not loopback, and it has none"):
        await known(fake, own="")


async def test_the_engine_is_not_asked_if_no_pod_dials_the_host(fake: FakeEngine) -> None:
    elsewhere = plan(changed(OPTIONS, tracing_endpoint="collector.example.com:4317"))

    for made in (plan(), elsewhere):
        assert await known_host(Engine(Endpoint(url=fake.url)), made, lambda: OWN) == ""
    assert fake.asked == []
