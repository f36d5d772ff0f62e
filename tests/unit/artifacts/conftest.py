"""What tests of programs and of the store use."""

from pathlib import Path

import pytest

from tests.support.listener import Listener


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def listener() -> Listener:
    return Listener()
