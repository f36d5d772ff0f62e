from random import Random

import pytest

from kwokctl.controller.write_errors import Trouble, backoff, trouble
from kwokctl.errors import ApiError


@pytest.mark.parametrize(
    ("status", "reason", "expected"),
    [
        (0, "", Trouble.TRANSIENT),
        (429, "TooManyRequests", Trouble.TRANSIENT),
        (500, "InternalError", Trouble.TRANSIENT),
        (503, "ServiceUnavailable", Trouble.TRANSIENT),
        (504, "Timeout", Trouble.TRANSIENT),
        (409, "Conflict", Trouble.CONFLICT),
        (409, "AlreadyExists", Trouble.LASTING),
        (404, "NotFound", Trouble.GONE),
        (403, "Forbidden", Trouble.LASTING),
        (422, "Invalid", Trouble.LASTING),
    ],
)
def test_an_error_says_what_to_do(status: int, reason: str, expected: Trouble) -> None:
    assert trouble(ApiError("no", status=status, reason=reason)) is expected


def test_waiting_doubles_up_to_the_most() -> None:
    waits = [backoff(n, Random(1), first=1.0, most=30.0) for n in range(1, 9)]

    for wait, plain in zip(waits, [1, 2, 4, 8, 16, 30, 30, 30], strict=True):
        assert plain <= wait <= plain * 1.2
    assert backoff(10_000, Random(1), first=1.0, most=30.0) <= 36.0
