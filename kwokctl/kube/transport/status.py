"""Interprets refusals of an API server: an error, or a request to try again later."""

import http

import msgspec

from kwokctl.errors import ApiError
from kwokctl.kube.transport.rights import right_in
from kwokctl.kube.transport.wire import Response


class Status(msgspec.Struct):
    """The parts of `metav1.Status` that say why; any of them may be missing."""

    message: str = ""
    reason: str = ""
    code: int = 0


_decoder = msgspec.json.Decoder(Status)
_LONGEST_TEXT = 500
_SHORTEST_DELAY, _LONGEST_DELAY = 0.05, 10.0


def status_of(body: bytes | msgspec.Raw) -> Status:
    """Read a `metav1.Status`; an answer that is something else becomes its message."""
    try:
        return _decoder.decode(body)
    except msgspec.DecodeError:
        text = bytes(body).decode(errors="replace").strip()
        return Status(message=text[:_LONGEST_TEXT])


def refusal(code: int, body: bytes) -> ApiError:
    """Return the error for an answer with the HTTP status `code`, 400 or more."""
    status = status_of(body)
    phrase = http.HTTPStatus(code).phrase if code in _CODES else "Unknown Status"
    return ApiError(
        status.message or f"the API server answered {code} {phrase}",
        status=code,
        reason=status.reason or phrase.replace(" ", ""),
        hint=_hint(code, status.message),
    )


def _hint(code: int, message: str) -> str | None:
    right = right_in(message) if code == _FORBIDDEN else None
    return right.remedy if right is not None else _HINTS.get(code)


_FORBIDDEN = 403
_CODES = frozenset(code.value for code in http.HTTPStatus)
_HINTS = {
    401: "the kubeconfig's certificate or token is not known to this cluster",
}


def retry_after(response: Response) -> float | None:
    """Return after how many seconds the server asks for a retry, None if it does not say."""
    value = response.header(b"retry-after")
    if value is None:
        return None
    try:
        return min(max(float(value), _SHORTEST_DELAY), _LONGEST_DELAY)
    except ValueError:
        return 1.0  # a date: kube-apiserver sends seconds, a proxy in between may not
