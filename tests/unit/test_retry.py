"""What is done once more, and for how long."""

import asyncio
from random import Random

import pytest

from kwokctl.errors import ApiError, CapacityError, RequestError
from kwokctl.etcd.grpc.call_errors import refused
from kwokctl.retry import backoff, may_pass, retried, until_answered
from tests.support import virtual_time


def answered_after(seconds: float, status: int) -> float:
    """Return when there is an answer from a server that has recovered after some seconds."""

    async def work() -> None:
        if asyncio.get_running_loop().time() < seconds:
            raise ApiError("no", status=status)

    async def times() -> float:
        await retried(work)
        return asyncio.get_running_loop().time()

    return virtual_time.run(times())


def test_a_server_that_is_being_started_again_is_waited_for() -> None:
    assert answered_after(10, status=0) >= 10


def test_a_server_that_cannot_answer_is_given_up_before_one_that_is_not_there() -> None:
    assert answered_after(3, status=503) >= 3
    with pytest.raises(ApiError):
        answered_after(10, status=503)


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_a_request_to_an_overloaded_server_or_proxy_is_repeated(status: int) -> None:
    assert answered_after(0.5, status=status) >= 0.5


@pytest.mark.parametrize("status", [403, 404, 409, 422, 501, 505])
def test_a_refusal_is_an_answer(status: int) -> None:
    with pytest.raises(ApiError):
        answered_after(0.01, status=status)


def tries(error: RequestError) -> int:
    """Return how often a request is sent that fails each time."""
    sent: list[int] = []

    async def work() -> None:
        sent.append(1)
        raise error

    async def until_raised() -> None:
        with pytest.raises(type(error)):
            await retried(work)

    virtual_time.run(until_raised())
    return len(sent)


FULL = "etcdserver: mvcc: database space exceeded"


@pytest.mark.parametrize(
    "error",
    [
        refused(3, "etcdserver: request is too large"),
        refused(7, "etcdserver: permission denied"),
        refused(12, "unknown service"),
        refused(16, "etcdserver: invalid auth token"),
        refused(8, FULL),
        ApiError("etcdserver: request is too large", status=500),
        ApiError("etcdserver: permission denied", status=500),
        ApiError(FULL, status=500),
    ],
    ids=str,
)
def test_what_etcd_refuses_for_good_is_sent_once(error: RequestError) -> None:
    assert tries(error) == 1


@pytest.mark.parametrize(
    "error",
    [
        refused(8, "etcdserver: too many requests"),
        refused(14, "etcdserver: no leader"),
        ApiError("etcdserver: request timed out", status=500),
    ],
    ids=str,
)
def test_what_etcd_cannot_do_just_now_is_sent_again(error: RequestError) -> None:
    assert tries(error) > 3


def test_a_full_etcd_may_be_written_to_later_and_a_refused_request_may_not() -> None:
    assert may_pass(refused(8, FULL))
    assert may_pass(ApiError(FULL, status=500))
    assert not may_pass(refused(3, "etcdserver: request is too large"))


@pytest.mark.parametrize(
    "error", [refused(8, FULL), ApiError(FULL, status=500)], ids=["etcd", "api"]
)
def test_a_full_etcd_has_one_id_and_one_remedy_whoever_tells(error: RequestError) -> None:
    assert error.id == CapacityError.id
    assert error.hint == "make room with: kwokctl --name NAME doctor --fix"


def test_waiting_doubles_up_to_the_most() -> None:
    waits = [backoff(n, Random(1), first=1.0, most=30.0) for n in range(1, 9)]

    for wait, plain in zip(waits, [1, 2, 4, 8, 16, 30, 30, 30], strict=True):
        assert plain <= wait <= plain * 1.2
    assert backoff(10_000, Random(1), first=1.0, most=30.0) <= 36.0


def test_each_kind_of_refusal_is_a_warning_once(caplog: pytest.LogCaptureFixture) -> None:
    errors = [
        ApiError("away", status=0),
        ApiError("away", status=0),
        ApiError("forbidden", status=403, reason="Forbidden", hint="grant it"),
        ApiError("forbidden", status=403, reason="Forbidden", hint="grant it"),
    ]

    async def ask() -> str:
        if errors:
            raise errors.pop(0)
        return "answer"

    assert virtual_time.run(until_answered(ask, Random(1))) == "answer"
    warnings = [r.getMessage() for r in caplog.records if r.levelname == "WARNING"]
    assert warnings == ["away; trying again", "forbidden; trying again; grant it"]
