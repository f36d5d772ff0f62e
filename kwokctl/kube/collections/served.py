"""Follows kinds that a cluster may start or stop serving, such as those of custom resources."""

import asyncio
from collections.abc import Awaitable, Callable
from random import Random

from kwokctl.errors import ApiError, NotFoundError
from kwokctl.kube.client import Client
from kwokctl.kube.resource import Resource
from kwokctl.retry import ASK_MOST, may_pass, until_answered

_PAUSE = 1.0
"""Seconds: for a moment a cluster still lists a kind that it does not serve any more."""


async def while_served(  # noqa: PLR0913 - most callers leave out the last two
    client: Client,
    kind: tuple[str, str],
    follow: Callable[[Resource], Awaitable[None]],
    absent: Callable[[], None],
    random: Random,
    *,
    most: float = ASK_MOST,
    is_told: Callable[[], bool] = lambda: True,
) -> None:
    """Do `follow` whenever the cluster serves a kind, given as apiVersion and name.

    `follow` returns when the cluster stops serving it, as a watch does with `while_served`;
    `absent` is called whenever it turns out not to be served; then `most` seconds pass at the most
    until the next look. `is_told` says whether that is a warning in the log. Runs until cancelled.
    """

    async def find() -> Resource:
        try:
            return await client.resource_for(*kind)
        except NotFoundError:
            absent()
            raise
        except ApiError as e:
            if not may_pass(e):
                absent()
            raise

    while True:
        resource = await until_answered(find, random, most=most, is_told=is_told)
        await follow(resource)
        client.forget(resource)
        await asyncio.sleep(_PAUSE)
