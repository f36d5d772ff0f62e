"""Classifies the refusals of lists and watches."""

from kwokctl.errors import ApiError
from kwokctl.kube.transport.wire import UNTRUSTED

_GONE = 410
_FORBIDDEN = 403
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
