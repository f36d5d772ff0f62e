"""A real API server, asked without the product's command in between."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import msgspec

from kwokctl.errors import ApiError
from kwokctl.json_value import Json
from kwokctl.kube.client import Client
from kwokctl.kube.kubeconfig.access import load_access
from kwokctl.kube.transport.pool import Pool
from tests.support.installed import Installed

T = TypeVar("T")

ONLY_STORAGE = ("--components", "etcd,kube-apiserver")
"""For a cluster in which only the test changes objects."""
PODS_ON_NODES = ("--disable", "kube-scheduler,kube-controller-manager")
"""For a cluster whose tests name the node of each pod, make the account that pods need, and do not
wait for nodes: their first taint stays."""


def ask(cluster: Installed, questions: Callable[[Client], Awaitable[T]]) -> T:
    """Ask the API server of a cluster whose context is the current one."""

    async def main() -> T:
        access = await asyncio.to_thread(load_access, cluster.kubeconfig)
        async with Pool(access) as pool:
            return await questions(Client(pool))

    return asyncio.run(main())


def encoded(value: Json) -> bytes:
    """Return a body."""
    return msgspec.json.encode(value)


async def answer(asked: Awaitable[bytes]) -> tuple[int, Json]:
    """Return the HTTP status and the object, or the message of a refusal."""
    try:
        return 200, msgspec.json.decode(await asked)
    except ApiError as e:
        return e.status, str(e)
