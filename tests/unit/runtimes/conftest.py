"""What tests of several runtimes use."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.fake_engine import FakeEngine, fake_engine


@pytest.fixture
def fake() -> Iterator[FakeEngine]:
    """An engine with configured answers, on a path that is short: its socket lies there."""
    with tempfile.TemporaryDirectory() as folder, fake_engine(Path(folder)) as fake:
        yield fake
