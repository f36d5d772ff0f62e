from random import Random

import pytest

from kwokctl.controller.stages.compiled_stage import DeleteStep, Kind, Stage
from kwokctl.controller.write_errors import ErrorKind, ErrorLog, error_kind, wait_after
from kwokctl.errors import (
    ApiError,
    EtcdConflictError,
    EtcdGoneError,
    EtcdRefusedError,
    ExpressionError,
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


def stage(name: str) -> Stage:
    return Stage(name=name, kind=Kind("v1", "Pod"), selector=None, steps=(DeleteStep(),))


def test_errors_of_one_stage_do_not_silence_those_of_others(
    caplog: pytest.LogCaptureFixture,
) -> None:
    log, loud, quiet = ErrorLog("Pod"), stage("loud"), stage("quiet")
    for number in range(100):
        log.log_unmatched(loud, f"ns/{number}", ExpressionError(f"'{number}' is no number"))
    log.log_unmatched(quiet, "ns/p", ExpressionError("there is no field 'a'"))
    message = 'User "u" cannot patch resource "pods" in API group ""'
    for each in (loud, quiet):
        log.log_once(each, 0, "ns/p", ApiError(message, status=403, reason="Forbidden"))

    *many, last, missing = caplog.messages
    assert [text.partition(":")[0] for text in many] == [
        *(f"stage 'loud' is not for Pod 'ns/{number}'" for number in range(5)),
        "stage 'loud'",
    ]
    assert many[-1] == "stage 'loud': more of its errors are not logged"
    assert last.startswith("stage 'quiet' is not for Pod")
    assert "cannot patch resource" in missing


def test_a_stage_that_was_changed_is_logged_anew(caplog: pytest.LogCaptureFixture) -> None:
    log = ErrorLog("Pod")
    before, after = stage("a"), stage("a")
    for each in (before, before, after):
        log.log_unmatched(each, "ns/p", ExpressionError("it is wrong"))

    assert len(caplog.messages) == 2
