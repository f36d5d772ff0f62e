"""`scale` and the controller's own server."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from kwokctl import __version__
from kwokctl.dataplane.scale_protocol import (
    ControllerClient,
    KubeletEndpoint,
    PlayedStages,
    PodPlace,
)
from kwokctl.errors import ApiError
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.transport.pool import Pool
from tests.support.controller_answers import answers, serving_controller

IN_FORCE = PlayedStages(
    generation="g",
    stages=[{"metadata": {"name": "a"}}],
    selection={"all_nodes": True},
    started="2026-01-01T00:00:00Z",
    manager="kwok-controller",
)


def answer(_: bytes) -> bytes:
    return b'{"n":{"hosts":["192.0.2.1"],"pods":[["10.0.0.1"],["10.0.0.2"]]}}'


@asynccontextmanager
async def client(file: Path, token: str) -> AsyncIterator[ControllerClient]:
    """Yield what asks a controller whose token is `token`."""
    answering = answers(
        kubelet=b'{"address":"10.0.0.1","port":10247}',
        seen=b'{"nodes":7,"pods":8}',
        reserve=answer,
        stages=IN_FORCE,
    )
    async with (
        serving_controller(answering, token) as port,
        Pool(Access(server=f"http://127.0.0.1:{port}")) as pool,
    ):
        yield ControllerClient(pool, file)


async def test_the_token_is_shown_as_the_file_has_it_now(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("former\n")
    async with client(file, "present") as at:
        with pytest.raises(ApiError, match="answers 401"):
            await at.seen()

        file.write_text("present\n")

        assert (await at.seen()).pods == 8
        assert await at.kubelet() == KubeletEndpoint(address="10.0.0.1", port=10247)
        found = await at.addresses(["n", "n"], of_pods=True)
        assert list(found) == [
            PodPlace(("10.0.0.1",), ("192.0.2.1",)),
            PodPlace(("10.0.0.2",), ("192.0.2.1",)),
        ]


async def test_a_missing_token_is_named(tmp_path: Path) -> None:
    async with client(tmp_path / "token", "present") as at:
        with pytest.raises(ApiError, match="/token' cannot be read"):
            await at.seen()


async def test_the_stages_in_force_are_reported_with_their_generation(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("present")
    async with client(file, "present") as at:
        found = await at.stages()

        assert found == IN_FORCE
        assert await at.generation() == IN_FORCE.generation


async def test_the_controller_says_of_which_version_it_is(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("present")
    async with client(file, "present") as at:
        assert await at.version() == __version__
