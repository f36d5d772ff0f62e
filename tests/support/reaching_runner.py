"""A runner that lets verbs check what they are asked, and stops them where they would act."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, NoReturn, ParamSpec, TypeVar

from kwokctl import registry
from kwokctl.clusters.state.home import Home
from kwokctl.errors import UnavailableError
from kwokctl.host.machine import Host
from kwokctl.replacing import replace
from kwokctl.runtime import Runtime

P = ParamSpec("P")
T = TypeVar("T")
REACHED = "the verb would act now"
_CHECKING = frozenset({"carry", "create_cluster", "load_images", "scale", "stock_images"})
"""Verbs that check more than the command line does, before they act."""


class ReachingRunner:
    """Runs the verbs that check, without a machine to act on; the others would act at once."""

    def __call__(self, verb: Callable[P, Awaitable[T]], /, *args: P.args, **kwargs: P.kwargs) -> T:
        if verb.__name__ not in _CHECKING:
            _reached()
        home, *others = args
        assert isinstance(home, Home)
        harmless: Any = replace(home, load_runtime=_load)

        async def run() -> T:
            return await verb(harmless, *others, **kwargs)  # type: ignore[arg-type]  # the same with another home

        return asyncio.run(run())


class _Unavailable:
    """A runtime that can run nothing here."""

    def __init__(self, name: str) -> None:
        self.name = name

    images: Any = None

    async def check(self) -> None:
        _reached()


def _load(name: str, host: Host) -> Runtime:
    registry.load(name, host)
    made: Any = _Unavailable(name)
    runtime: Runtime = made
    return runtime


def _reached() -> NoReturn:
    raise UnavailableError(REACHED)
