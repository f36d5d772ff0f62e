"""The answers that the proxy itself gives. Pure."""

import msgspec

from kwokctl.api_proxy.api_fault import Refusal
from kwokctl.embedded.http.messages import Answer

_JSON = "application/json"
_TOO_MANY, _UNAVAILABLE = 429, 503
_REASONS = {
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
}
"""The `reason` that the API server gives with some statuses."""


def refused(refusal: Refusal) -> Answer:
    """Return the answer to a request that a fault refuses, as the API server and load balancers write it."""
    words = (
        "Too many requests, please try again later."
        if refusal.code == _TOO_MANY
        else f"the fault '{refusal.fault}' of kwokctl lets the API fail"
    )
    return _status(refusal.code, words, refusal.retry_after)


def unreachable(problem: str) -> Answer:
    """Return the answer where the API server does not answer."""
    return _status(_UNAVAILABLE, f"the API server behind the proxy of kwokctl: {problem}", 1)


def _status(code: int, message: str, retry_after: int) -> Answer:
    details = {"retryAfterSeconds": retry_after} if retry_after else None
    body = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": _REASONS.get(code, ""),
        **({"details": details} if details else {}),
        "code": code,
    }
    headers = (("Retry-After", str(retry_after)),) if retry_after else ()
    return Answer(code, msgspec.json.encode(body), content_type=_JSON, headers=headers)
