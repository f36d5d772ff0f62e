"""Explains failed HTTP requests: whether a retry may help, and why in few words."""

import errno
import socket
import ssl
from collections.abc import Iterator

import msgspec

_NO_WAY = {errno.EHOSTUNREACH, errno.ENETUNREACH, errno.ENETDOWN, errno.EACCES, errno.EPERM}

_PROXY_AUTHENTICATION = 407
_LOGIN = "it asks for a user and a password: HTTPS_PROXY=http://USER:PASSWORD@HOST:PORT"
_UNTRUSTED = "its certificate is not trusted; SSL_CERT_FILE names a file of authorities"
_LATER = {408, 425, 429}
"""Too slow, too early, too many requests (https://www.iana.org/assignments/http-status-codes)."""


class Trouble(msgspec.Struct, frozen=True):
    """Why a host did not give a file."""

    host: str
    cause: str
    """The end of a sentence, such as `cannot be reached (unknown host)`."""
    passing: bool = False
    """Whether another try may help."""
    unreachable: bool = False
    """Whether other files of the host will fail, too."""

    def __str__(self) -> str:
        """Return one clause for a message."""
        return f"{self.host} {self.cause}"


def of_status(host: str, status: int, file: str) -> Trouble:
    """Explain an HTTP status of 400 or more; the server's own failures and its limits are temporary."""
    if status in (404, 410):
        return Trouble(host, f"has no '{file}' ({status})")
    if status == _PROXY_AUTHENTICATION:
        return Trouble(host, f"cannot be reached through the proxy ({_LOGIN})", unreachable=True)
    return Trouble(
        host, f"answers {status} for '{file}'", passing=status >= 500 or status in _LATER
    )


def of_error(host: str, error: Exception) -> Trouble:
    """Explain an exception of requests, by its root cause."""
    from requests import exceptions as http  # slow to import, seldom needed

    chain = list(_chain(error))
    proxy = any(isinstance(e, http.ProxyError) for e in chain)
    beyond = "cannot be reached through the proxy" if proxy else "cannot be reached"
    if why := next(filter(None, map(_lasting, chain)), None):
        return Trouble(host, f"{beyond} ({why})", unreachable=True)
    if proxy:
        said = str(chain[-1])
        why = _LOGIN if f" {_PROXY_AUTHENTICATION} " in said else said
        return Trouble(host, f"{beyond} ({why})", unreachable=True)
    if any(isinstance(e, http.ConnectTimeout) for e in chain):
        return Trouble(host, f"{beyond} (no answer)", passing=True, unreachable=True)
    if any(isinstance(e, http.Timeout | TimeoutError) for e in chain):
        return Trouble(host, "has stopped answering", passing=True)
    if isinstance(error, http.ConnectionError | http.ChunkedEncodingError):
        return Trouble(host, "closed the connection early", passing=True)
    return Trouble(host, f"cannot be queried ({error})")


def _lasting(error: BaseException) -> str | None:
    """Explain why a retry cannot help; None if it may."""
    match error:
        case socket.gaierror():
            return "unknown host"
        case ConnectionRefusedError():
            return "connection refused"
        case ssl.SSLCertVerificationError():
            return _UNTRUSTED
        case ssl.SSLError() if not isinstance(error, ssl.SSLEOFError):
            return "it supports none of the TLS versions that kwokctl supports"
        case OSError(errno=code) if code in _NO_WAY:
            return error.strerror.lower() if error.strerror else "no route"
        case _:
            return None


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and what it comes from; urllib3 keeps the error of TLS or of a proxy as an argument."""
    while error is not None:
        yield error
        inner = next((each for each in error.args if isinstance(each, BaseException)), None)
        error = error.__cause__ or error.__context__ or inner
