"""One chromium for all tests, and pages in it about which it must not complain."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.support import axe, browsers


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Run one browser for all tests."""
    with browsers.chromium() as running:
        yield running


@pytest.fixture
def viewer(browser: Browser, tmp_path: Path) -> Iterator[browsers.Viewer]:
    """Open pages; the test fails if the browser has complained about one."""
    opened = browsers.Viewer(browser, tmp_path)
    yield opened
    opened.close()
    assert opened.complaints == []


@pytest.fixture(scope="session")
def axe_core() -> str:
    """Return the text of axe-core."""
    return axe.script()
