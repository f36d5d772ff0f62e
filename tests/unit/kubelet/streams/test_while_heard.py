"""Connections to pods whose kubelet falls silent meanwhile."""

import asyncio
from collections.abc import Iterator

import pytest

from kwokctl.embedded.http.messages import NoAnswerError, RawStream, RefusedError, Request
from kwokctl.errors import ApiError
from kwokctl.kubelet.fleet.views import PodView
from kwokctl.kubelet.streams.while_heard import WhileHeard
from tests.support.kubelet_rig import pod

REQUEST = Request(method="POST", path="/exec/default/app/c")


class Nothing:
    """The connection, which the handlers of these tests do not use."""

    async def read(self) -> bytes:
        raise NotImplementedError

    async def write(self, data: bytes) -> None:
        raise NotImplementedError

    async def close(self) -> None:
        raise NotImplementedError


class Looks:
    """Finds the pod, or fails, one look after the other."""

    def __init__(self, *outcomes: Exception | None) -> None:
        self._outcomes: Iterator[Exception | None] = iter(outcomes)

    async def pod(self, namespace: str, name: str) -> PodView | None:
        assert (namespace, name) == ("default", "app")
        if (error := next(self._outcomes, None)) is not None:
            raise error
        return pod()


async def test_it_ends_when_the_kubelet_falls_silent() -> None:
    ended: list[str] = []

    async def handler(_: Request, __: RawStream) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("handler")

    away = ApiError("the cluster is away", status=503)
    looks = Looks(None, away, NoAnswerError("silent"))
    with pytest.raises(NoAnswerError):
        async with asyncio.timeout(60):
            await WhileHeard(handler, looks, look_again=0.001)(REQUEST, Nothing())
    assert ended == ["handler"]


async def test_it_ends_with_its_handler_else() -> None:
    async def handler(_: Request, __: RawStream) -> None:
        return

    async with asyncio.timeout(60):
        await WhileHeard(handler, Looks())(REQUEST, Nothing())


async def test_what_is_refused_is_refused() -> None:
    async def handler(_: Request, __: RawStream) -> None:
        raise RefusedError(404, "not found")

    with pytest.raises(RefusedError):
        await WhileHeard(handler, Looks())(Request(method="POST", path="/exec"), Nothing())
