"""Downloads files over HTTP: resumes partial ones, and repeats only after temporary failures.

All of it blocks; `stop` ends it at the next block. Proxies, certificate bundles and `.netrc` are
those of the environment, as requests reads them.
"""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event
from typing import IO, TYPE_CHECKING, Protocol, TypeVar
from urllib.parse import unquote, urlsplit

from kwokctl.artifacts.downloads import http_failures
from kwokctl.artifacts.downloads.http_failures import Trouble
from kwokctl.host.files import naming

if TYPE_CHECKING:
    import requests

_T = TypeVar("_T")

_BLOCK = 1 << 16
"""Bytes. An incomplete block is lost when the connection breaks, so it must not be large."""
_TIMEOUT = (5.0, 30.0)
"""Seconds to wait for a connection, and between two blocks."""
_PAUSES = (0.5, 1.0, 2.0, 4.0, 8.0)
"""Seconds to wait before another try. As many tries are made without progress."""
_TRIES_TO_CONNECT = 2
_LONGEST_TEXT = 1 << 20
_LARGEST = 4 << 30
"""Bytes: more than any program or archive has, and less than what fills most disks."""
_RANGE = re.compile(r"bytes (?:(\d+)-\d+|\*)/(\d+)")


class Listener(Protocol):
    """A listener for the progress of a transfer; called from the transfer's thread."""

    def begin(self, total: int | None, done: int) -> None:
        """Note that a transfer begins; `done` of `total` bytes are here from before."""
        ...

    def advance(self, amount: int) -> None:
        """Note that more bytes have come."""
        ...

    def say(self, what: str) -> None:
        """Note what else happens, such as a retry."""
        ...


class Transfer:
    """Requests that share a connection, a listener and a way to be stopped."""

    def __init__(
        self,
        listener: Listener,
        stop: Event,
        *,
        pauses: Sequence[float] = _PAUSES,
        timeout: tuple[float, float] = _TIMEOUT,
        largest: int = _LARGEST,
    ) -> None:
        """Report to `listener`, end when `stop` is set, wait `pauses` between tries.

        A file with more than `largest` bytes is refused.
        """
        self._listener = listener
        self._stop = stop
        self._pauses = pauses
        self._timeout = timeout
        self._largest = largest

    def text(self, url: str) -> str | Trouble:
        """Return a short text, or why it cannot be downloaded."""

        def attempt(session: "requests.Session") -> str | Trouble:
            with session.get(url, timeout=self._timeout, stream=True) as answer:
                if answer.status_code >= 400:
                    return http_failures.of_status(host_of(url), answer.status_code, filename(url))
                start = next(answer.iter_content(_LONGEST_TEXT), b"")
                return start.decode(errors="replace")

        return self._patiently(url, attempt, reached=lambda: 0)

    def file(self, url: str, part: Path) -> Trouble | None:
        """Download the file at `url` to the path `part`, or return why that failed.

        A partial file at `part` is continued if the server still has the same file.
        """

        def reached() -> int:
            return part.stat().st_size if part.exists() else 0

        return self._patiently(url, lambda session: self._bring(session, url, part), reached)

    def _patiently(
        self,
        url: str,
        attempt: "Callable[[requests.Session], _T | Trouble]",
        reached: Callable[[], int],
    ) -> _T | Trouble:
        # Slow to import, and needed only when something is missing.
        import requests

        from kwokctl.artifacts.downloads.http_sessions import open_session

        tries, furthest = 0, reached()
        with open_session() as session:
            while True:
                try:
                    answer = attempt(session)
                except OSError as e:
                    if not isinstance(e, requests.RequestException) and e.errno is not None:
                        raise  # of the file, not of the request
                    answer = http_failures.of_error(host_of(url), e)
                if not isinstance(answer, Trouble) or not answer.passing:
                    return answer
                if reached() > furthest:
                    tries, furthest = 0, reached()
                tries += 1
                if tries >= (_TRIES_TO_CONNECT if answer.unreachable else len(self._pauses)):
                    return answer
                self._listener.say(f"{answer}: trying again")
                if self._stop.wait(self._pauses[tries - 1]):
                    return answer

    def _bring(self, session: "requests.Session", url: str, part: Path) -> Trouble | None:
        tag = _tag(part)
        done = part.stat().st_size if part.exists() and tag.exists() else 0
        headers = {"Accept-Encoding": "identity"}
        if done:
            headers |= {"Range": f"bytes={done}-", "If-Range": tag.read_text(encoding="utf-8")}
        with session.get(url, headers=headers, stream=True, timeout=self._timeout) as answer:
            status, (first, total) = answer.status_code, _span(answer)
            if status == 416 and total == done:
                return None
            if trouble := self._refused(url, answer, part, is_other=first != done):
                return trouble
            if status != 206:
                done = 0
                _remember(tag, answer)
            self._listener.begin(total, done)
            with naming(part), part.open("ab" if done else "wb") as file:
                if trouble := self._receive(url, answer, file):
                    return trouble
        if total is not None and part.stat().st_size != total:
            return Trouble(host_of(url), "closed the connection early", passing=True)
        return None

    @staticmethod
    def _refused(
        url: str, answer: "requests.Response", part: Path, *, is_other: bool
    ) -> Trouble | None:
        """Return why an answer does not hold the rest of a file, whose part goes if it is another's."""
        status = answer.status_code
        if status == 416 or (status == 206 and is_other):
            discard(part)
            return Trouble(host_of(url), "now serves another file", passing=True)
        if status >= 400:
            return http_failures.of_status(host_of(url), status, filename(url))
        return None

    def _receive(self, url: str, answer: "requests.Response", file: IO[bytes]) -> Trouble | None:
        """Write what comes to the end of a file, or return why it is not all."""
        for block in answer.iter_content(_BLOCK):
            if self._stop.is_set():
                return Trouble(host_of(url), "took too long")
            if file.tell() + len(block) > self._largest:
                return Trouble(host_of(url), f"sends more than {self._largest:,} bytes")
            file.write(block)
            self._listener.advance(len(block))
        return None


def discard(part: Path) -> None:
    """Remove the received part of a file that is wrong."""
    part.unlink(missing_ok=True)
    _tag(part).unlink(missing_ok=True)


def _tag(part: Path) -> Path:
    return part.with_name(f"{part.name}.tag")


def filename(url: str) -> str:
    """Return the last word of the path of an address."""
    return unquote(urlsplit(url).path).rpartition("/")[2]


def public(url: str) -> str:
    """Return an address without the user name, password and query that may be secrets."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="").geturl()


def host_of(url: str) -> str:
    """Return the host of an address."""
    return urlsplit(url).hostname or url


def _span(answer: "requests.Response") -> tuple[int, int | None]:
    """Return the position of the first byte that comes, and the size of the whole file."""
    if match := _RANGE.fullmatch(answer.headers.get("Content-Range", "")):
        return int(match[1] or 0), int(match[2])
    length = answer.headers.get("Content-Length", "")
    encoded = answer.headers.get("Content-Encoding", "identity") != "identity"
    return 0, int(length) if length.isdigit() and not encoded else None


def _remember(tag: Path, answer: "requests.Response") -> None:
    """Keep what distinguishes this file from a later one at the same address."""
    etag = answer.headers.get("ETag", "")
    mark = etag if etag.startswith('"') else answer.headers.get("Last-Modified", "")
    tag.unlink(missing_ok=True)
    if mark:
        tag.write_text(mark, encoding="utf-8")
