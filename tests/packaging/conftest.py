"""The distribution as users get it."""

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def _quick_installations() -> Iterator[None]:
    """Let pip compile nothing: a few commands are run in each environment, and each file is as good."""
    with pytest.MonkeyPatch.context() as environment:
        # What it takes for its flag `--no-compile`; it is the value for "no" that sets it.
        environment.setenv("PIP_NO_COMPILE", "no")
        yield
