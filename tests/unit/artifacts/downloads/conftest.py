"""A site that publishes files, and a store that they come into."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kwokctl.artifacts.store import ProgramStore
from tests.support.release_site import ReleaseSite, release_site


@pytest.fixture
def site() -> Iterator[ReleaseSite]:
    with release_site() as site:
        yield site


@pytest.fixture
def store(tmp_path: Path) -> ProgramStore:
    return ProgramStore(tmp_path / "store")
