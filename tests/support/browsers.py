"""A real browser for pages: Debian's chromium, driven by Playwright, which brings no browser of its own here."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NoReturn

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Response,
    sync_playwright,
)
from playwright.sync_api import Error as PlaywrightError

from kwokctl.measure.pages.join import html, read_parts
from kwokctl.measure.pages.page_data import PageData
from tests.support.debian import BROWSER, NotInstalledError, need

Scheme = Literal["light", "dark"]
_NETWORK_CHANGED = "net::ERR_NETWORK_CHANGED"
"""What chromium ends all requests with, even those on loopback, when an interface of the machine comes or goes: engines add some."""


def unavailable(reason: str) -> NoReturn:
    """Skip the test; where CI=true says that everything is to be tested, fail it."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


@contextmanager
def chromium() -> Iterator[Browser]:
    """Run Debian's chromium until the block ends; skips the test where it is missing."""
    try:
        need(BROWSER)
    except NotInstalledError as e:
        unavailable(str(e))
    # Root may not use its sandbox, and the pages are our own.
    words = ["--no-sandbox"] if os.getuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=words)
        yield browser
        browser.close()


def visit(page: Page, address: str) -> Response | None:
    """Go to an address, once more each time that the network of the machine changes meanwhile; return the response."""
    for _ in range(10):
        try:
            return page.goto(address)
        except PlaywrightError as e:
            if _NETWORK_CHANGED not in str(e):
                raise
    return page.goto(address)


def is_of_machine(text: str) -> bool:
    """Return whether a message of the console only says that the network of the machine has changed; pages ask again then."""
    return _NETWORK_CHANGED in text


class Viewer:
    """Opens pages, and notes what a browser complains about."""

    def __init__(self, browser: Browser, folder: Path) -> None:
        self._browser = browser
        self._folder = folder
        self._contexts: list[BrowserContext] = []
        self.complaints: list[str] = []
        """Errors and warnings of the console, exceptions, dialogs, and requests for anything but the page."""

    def open(
        self,
        data: PageData,
        *,
        width: int = 1280,
        scheme: Scheme = "light",
        little_motion: bool = False,
        has_scripts: bool = True,
        has_touch: bool = False,
    ) -> Page:
        """Show a document as the file that users get."""
        file = self._folder / f"page-{len(self._contexts)}.html"
        file.write_text(html(data, read_parts()), encoding="utf-8")
        context = self._browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=scheme,
            reduced_motion="reduce" if little_motion else "no-preference",
            java_script_enabled=has_scripts,
            accept_downloads=True,
            has_touch=has_touch,
        )
        self._contexts.append(context)
        page = context.new_page()
        self._listen(page, file.as_uri())
        page.goto(file.as_uri())
        return page

    def close(self) -> None:
        """Close all pages."""
        for context in self._contexts:
            context.close()

    def _listen(self, page: Page, address: str) -> None:
        def heard(message: ConsoleMessage) -> None:
            if message.type in {"error", "warning"}:
                self.complaints.append(f"console: {message.text}")

        page.on("console", heard)
        page.on("pageerror", lambda error: self.complaints.append(f"exception: {error}"))
        page.on("dialog", lambda dialog: self.complaints.append(f"dialog: {dialog.message}"))
        page.on("request", lambda request: self._asked(request.url, address))

    def _asked(self, url: str, address: str) -> None:
        if url.partition("#")[0] != address and not url.startswith("blob:"):
            self.complaints.append(f"request: {url}")
