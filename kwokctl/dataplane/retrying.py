"""Does once more what a cluster could not answer."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from kwokctl.errors import RequestError

_PAUSES = (0.1, 0.5, 1.0, 2.0)
"""Seconds to wait before each try after one that the cluster could not answer."""
_MORE = (4.0, 5.0)
"""And before further ones where no server was there at all, which may be about to be started again.

They end after what watches etcd has lost its patience, which knows more.
"""

Result = TypeVar("Result")


async def retried(work: Callable[[], Awaitable[Result]]) -> Result:
    """Do `work`, and do it again as long as there was no answer, or only a server in need.

    Raises RequestError for a refusal, or when patience is at an end. A try without an answer may have
    succeeded: who writes must understand what the next one is told then.
    """
    for pause in _PAUSES + _MORE:
        try:
            return await work()
        except RequestError as e:
            if not _may_pass(e) or (pause in _MORE and e.status):
                raise
        await asyncio.sleep(pause)
    return await work()


def _may_pass(error: RequestError) -> bool:
    return error.status == 0 or error.status >= 500
