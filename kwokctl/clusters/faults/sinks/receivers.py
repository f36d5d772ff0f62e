"""The receivers of a sink: a program that is run for each signal, or an HTTP end point. Only the user's own words name them."""

import shlex
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from urllib.parse import unquote, urlsplit

from kwokctl.errors import ApiError, CommandError, KwokctlError, UnavailableError, UsageError
from kwokctl.host.process import run_with_input
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.transport.pool import Pool

Send = Callable[[bytes], Awaitable[None]]
"""Delivers one JSON document, or raises DeliveryError."""
_EXEC = "exec:"
_HINT = "for example: --sink exec:./receive.py, or --sink http://127.0.0.1:8080/signals"
_PATIENCE = 30.0
"""Seconds for an answer, and for a program."""
_WRONG = frozenset({400, 413, 415, 422})
"""Statuses that say that a document will not be taken, however often it is sent."""
_SHOWN = 200


class DeliveryError(KwokctlError):
    """A document was not taken."""

    def __init__(self, message: str, *, is_final: bool = False) -> None:
        """Say why; `is_final` if another try cannot help."""
        super().__init__(message)
        self.is_final = is_final


def check_receiver(word: str) -> None:
    """Raise UsageError for what is neither a program nor a URL, UnavailableError for a program that is not there."""
    if word.startswith(_EXEC):
        _program(word)
        return
    parts = _url(word)
    if parts is None:
        raise UsageError(f"'--sink' is '{word}', which is neither exec: nor a URL", hint=_HINT)


@asynccontextmanager
async def open_receiver(word: str) -> AsyncIterator[Send]:
    """Yield what delivers to a receiver that `check_receiver` has accepted."""
    if word.startswith(_EXEC):
        argv = _program(word)

        async def run(document: bytes) -> None:
            await _run(argv, document)

        yield run
        return
    parts = urlsplit(word)
    port = "" if parts.port is None else f":{parts.port}"
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    basic = (unquote(parts.username), unquote(parts.password or "")) if parts.username else None
    access = Access(server=f"{parts.scheme}://{host}{port}", basic=basic)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    async with Pool(access, connections=1, timeout=_PATIENCE) as pool:

        async def post(document: bytes) -> None:
            await _post(pool, path, document)

        yield post


def _program(word: str) -> list[str]:
    try:
        argv = shlex.split(word.removeprefix(_EXEC))
    except ValueError as e:
        raise UsageError(f"'--sink' is '{word}': {str(e).lower()}", hint=_HINT) from e
    if not argv:
        raise UsageError(f"'--sink' is '{word}', which names no program", hint=_HINT)
    if shutil.which(argv[0]) is None:
        raise UnavailableError(
            f"'{argv[0]}' of '--sink' is not there, or cannot be run",
            hint="give its path, and make it executable: chmod +x",
        )
    return argv


def _url(word: str) -> object:
    """Return the parts of a URL; None for what is none."""
    try:
        parts = urlsplit(word)
        is_url = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        return None
    return parts if is_url else None


async def _run(argv: list[str], document: bytes) -> None:
    try:
        await run_with_input(argv, document + b"\n", patience=_PATIENCE)
    except (CommandError, UnavailableError) as e:
        raise DeliveryError(str(e)) from e


async def _post(pool: Pool, path: str, document: bytes) -> None:
    try:
        answer = await pool.request("POST", path, body=document)
    except ApiError as e:
        raise DeliveryError(str(e)) from e
    if 200 <= answer.status < 300:
        return
    text = answer.body[:_SHOWN].decode(errors="replace").strip()
    raise DeliveryError(
        f"it answered {answer.status}{': ' if text else ''}{text}", is_final=answer.status in _WRONG
    )
