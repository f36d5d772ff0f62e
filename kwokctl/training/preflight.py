"""Reads from a pod its checks before a training: init containers that test its node alone, or all nodes of its gang. Pure.

The bandwidths are those of the Azure health checks (https://github.com/Azure/azurehpc-health-checks: `check_nccl_allreduce` of one node, and
`check_ib_bw_gdr`) and, of 64 H100 on eight nodes, the mean of an all-reduce of half a GiB to eight.
"""

from collections.abc import Collection, Mapping
from typing import Literal, cast, get_args

from kwokctl.errors import ExpressionError
from kwokctl.expr.duration import parse_duration

PREFLIGHT = "kwokctl.dev/preflight"
"""The annotation of a pod: INIT CONTAINER=KIND, parted by commas."""
PREFLIGHT_TIMEOUT = "kwokctl.dev/preflight-timeout"
"""The annotation with the time after which a check fails that waits for the other nodes, a duration."""
CheckKind = Literal["loopback", "all-reduce"]
REASON = "nccl-checking-failure"
"""Why a container has failed that is such a check."""
_USUAL_TIMEOUT = 600.0
"""Seconds: that of NCCL's watchdog in PyTorch."""
_EXAMPLE = f"for example {PREFLIGHT}: nccl-loopback=loopback,nccl-checking=all-reduce"
_BANDWIDTHS: Mapping[str, Mapping[CheckKind, float]] = {
    "A100": {"loopback": 228.0, "all-reduce": 180.0},
    "H100": {"loopback": 460.0, "all-reduce": 377.2},
    "H200": {"loopback": 480.0, "all-reduce": 400.0},
}
"""In GB/s, by a part of the name of the GPU."""


def read_checks(
    annotations: Mapping[str, str], containers: Collection[str]
) -> Mapping[str, CheckKind]:
    """Return the kinds of the checks of a pod by the names of its init containers, which are `containers`.

    Raises ExpressionError, which names the annotation, where it cannot be read.
    """
    text, place = annotations.get(PREFLIGHT, ""), f"annotation '{PREFLIGHT}'"
    found: dict[str, CheckKind] = {}
    for word in filter(None, (each.strip() for each in text.split(","))):
        name, _, kind = word.partition("=")
        if kind not in get_args(CheckKind):
            kinds = " or ".join(get_args(CheckKind))
            raise ExpressionError(f"{place}: '{word}' is not NAME={kinds}", hint=_EXAMPLE)
        if name not in containers:
            raise ExpressionError(f"{place}: the pod has no init container '{name}'", hint=_EXAMPLE)
        found[name] = cast("CheckKind", kind)
    return found


def timeout_of(annotations: Mapping[str, str]) -> float:
    """Return after how many seconds a check fails that waits; ExpressionError where that cannot be read."""
    text = annotations.get(PREFLIGHT_TIMEOUT)
    if not text:
        return _USUAL_TIMEOUT
    try:
        return parse_duration(text)
    except ExpressionError as e:
        raise ExpressionError(
            f"annotation '{PREFLIGHT_TIMEOUT}': {e}", hint="for example: 5m"
        ) from e


def expected_bandwidth(product: str, kind: CheckKind) -> float | None:
    """Return the bus bandwidth in GB/s that a check of GPUs of a name shows without a fault; None if it is not known."""
    return next((each[kind] for name, each in _BANDWIDTHS.items() if name in product), None)
