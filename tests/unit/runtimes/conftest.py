"""What tests of several runtimes use."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.fake_engine import FakeEngine, fake_engine


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder whose path is short: sockets lie in it."""
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


@pytest.fixture
def fake(folder: Path) -> Iterator[FakeEngine]:
    """An engine with configured answers."""
    with fake_engine(folder) as fake:
        yield fake
