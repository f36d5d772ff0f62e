"""The distribution as users get it."""

from collections.abc import Iterator

import pytest

from tests.support.distribution import COMPILING_NOTHING


@pytest.fixture(scope="session", autouse=True)
def _quick_installations() -> Iterator[None]:
    """Let pip compile nothing: a few commands are run in each environment, and each file is as good."""
    with pytest.MonkeyPatch.context() as environment:
        for name, value in COMPILING_NOTHING.items():
            environment.setenv(name, value)
        yield
