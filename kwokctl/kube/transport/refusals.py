"""Interprets refusals of an API server: their words, the right that is missing, and whether to try again."""

import http
import re

import msgspec

from kwokctl.errors import ApiError, RequestError
from kwokctl.kube.transport.wire import UNTRUSTED, Response

_REFUSAL = re.compile(
    r'User "(?P<user>[^"]*)" cannot (?P<verb>\S+) '
    r'resource "(?P<resource>[^"]*)" in API group "(?P<group>[^"]*)"'
)


class MissingRight(msgspec.Struct, frozen=True):
    """A right that a user does not have."""

    user: str
    verb: str
    resource: str
    """With its group, as kubectl writes it: `pods/status`, `leases.coordination.k8s.io`."""

    @property
    def remedy(self) -> str:
        """The advice with which an administrator can grant it."""
        return (
            f"grant it: 'kubectl create clusterrole NAME --verb={self.verb} "
            f"--resource={self.resource}', and bind that to '{self.user}'"
        )


def missing_right(error: RequestError) -> MissingRight | None:
    """Return the right that was missing for a request; None if it failed for another reason.

    Admission answers 403 as well, for instance where a quota is exceeded.
    """
    return right_in(str(error)) if error.status == _FORBIDDEN else None


def right_in(message: str) -> MissingRight | None:
    """Return the right that a message says is missing."""
    found = _REFUSAL.search(message)
    if found is None:
        return None
    plural, slash, sub = found["resource"].partition("/")
    name = f"{plural}.{found['group']}" if found["group"] else plural
    return MissingRight(found["user"], found["verb"], f"{name}{slash}{sub}")


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


_GONE = 410
_NOT_SERVED = 404


def has_forgotten(error: ApiError) -> bool:
    """Return whether only a new list helps.

    That includes a server whose data are older than those already seen.
    """
    return error.status == _GONE or "Too large resource version" in str(error)


def is_final(error: ApiError) -> bool:
    """Return whether a retry would fail again."""
    return error.reason == UNTRUSTED or error.status in (400, 401, 403, 404, 405, 406, 422)


def is_forbidden(error: ApiError) -> bool:
    """Tell whether the user may not do what was requested."""
    return error.status == _FORBIDDEN


def is_not_served(error: ApiError) -> bool:
    """Return whether there is no such collection, or not any more."""
    return error.status == _NOT_SERVED
