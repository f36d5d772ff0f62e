"""A server whose pods run every command."""

from collections.abc import AsyncIterator

import pytest

from tests.support.stream_server import serving


@pytest.fixture
async def port() -> AsyncIterator[int]:
    async with serving() as found:
        yield found
