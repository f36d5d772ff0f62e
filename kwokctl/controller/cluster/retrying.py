"""Asks a cluster until it answers."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from random import Random
from typing import TypeVar

from kwokctl.controller.write_errors import backoff
from kwokctl.errors import ApiError, NotFoundError

log = logging.getLogger(__name__)

T = TypeVar("T")

_RETRY_FIRST, _RETRY_MOST = 0.2, 5.0


async def until_answered(ask: Callable[[], Awaitable[T]], random: Random) -> T:
    """Ask until there is an answer; the first refusal is a warning in the log, the others are not."""
    tries = 0
    while True:
        try:
            return await ask()
        except (ApiError, NotFoundError) as e:
            tries += 1
            log.log(logging.WARNING if tries == 1 else logging.DEBUG, "%s; trying again", e)
        await asyncio.sleep(backoff(tries, random, first=_RETRY_FIRST, most=_RETRY_MOST))
