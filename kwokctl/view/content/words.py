"""Writes amounts and times as the page shows them."""

from kwokctl.config.quantity import to_text

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
_BYTES = ("memory", "ephemeral-storage", "hugepages-")


def lasting(seconds: float) -> str:
    """Write how long something lasts, the longer the less exactly: `42s`, `12m 30s`, `3h 12m`, `2d 4h`."""
    whole = max(0, int(seconds))
    if whole < _MINUTE:
        return f"{whole}s"
    if whole < _HOUR:
        return f"{whole // _MINUTE}m {whole % _MINUTE}s"
    if whole < _DAY:
        return f"{whole // _HOUR}h {whole % _HOUR // _MINUTE}m"
    return f"{whole // _DAY}d {whole % _DAY // _HOUR}h"


def amount_of(resource: str, amount: int) -> str:
    """Write an amount of a resource, as `kwokctl.kube.pod_requests` counts it."""
    if resource == "cpu":
        return f"{amount / 1000:,.1f}".removesuffix(".0")
    if resource.startswith(_BYTES):
        return to_text(max(0, amount))
    return f"{amount:,}"


def share(part: float, whole: float) -> str:
    """Write a share in percent; nothing of nothing is empty."""
    return f"{100 * part / whole:.1f} %" if whole else ""
