from random import Random

import pytest

from kwokctl.controller.write_errors import ErrorKind, error_kind, wait_after
from kwokctl.errors import (
    ApiError,
    EtcdConflictError,
    EtcdGoneError,
    EtcdRefusedError,
    RequestError,
)


@pytest.mark.parametrize(
    ("status", "reason", "expected"),
    [
        (0, "", ErrorKind.TRANSIENT),
        (429, "TooManyRequests", ErrorKind.TRANSIENT),
        (500, "InternalError", ErrorKind.TRANSIENT),
        (503, "ServiceUnavailable", ErrorKind.TRANSIENT),
        (504, "Timeout", ErrorKind.TRANSIENT),
        (409, "Conflict", ErrorKind.CONFLICT),
        (409, "AlreadyExists", ErrorKind.LASTING),
        (404, "NotFound", ErrorKind.GONE),
        (403, "Forbidden", ErrorKind.LASTING),
        (422, "Invalid", ErrorKind.LASTING),
    ],
)
def test_an_error_says_what_to_do(status: int, reason: str, expected: ErrorKind) -> None:
    assert error_kind(ApiError("no", status=status, reason=reason)) is expected


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (EtcdGoneError("lost"), ErrorKind.TRANSIENT),
        (EtcdRefusedError("too many requests", code=8), ErrorKind.TRANSIENT),
        (EtcdConflictError("modified", status=409, reason="Conflict"), ErrorKind.CONFLICT),
        (EtcdConflictError("gone", status=404, reason="NotFound"), ErrorKind.GONE),
    ],
)
def test_an_error_of_etcd_says_what_to_do(error: RequestError, expected: ErrorKind) -> None:
    assert error_kind(error) is expected


def test_a_missing_right_is_no_lasting_refusal() -> None:
    message = 'User "u" cannot patch resource "pods" in API group ""'
    error = ApiError(message, status=403, reason="Forbidden")

    assert error_kind(error) is ErrorKind.FORBIDDEN
    assert max(wait_after(ErrorKind.FORBIDDEN, n, Random(1)) for n in range(1, 50)) < 120
