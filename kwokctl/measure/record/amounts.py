"""Amounts of resources as one short text, such as `cpu=1500m,memory=1Gi,nvidia.com/gpu=8`."""

from collections.abc import Iterable, Mapping
from functools import lru_cache

from kwokctl.expr.cel.values.quantities import CelQuantity
from kwokctl.kube.pod_requests import amounts

_NANOS = 10**9
_BYTES = ("memory", "ephemeral-storage", "hugepages-")
"""The beginnings of the names of resources that are counted in bytes."""


def text_of(found: Iterable[tuple[str, int]]) -> str:
    """Write amounts, as `kwokctl.kube.pod_requests` counts them, in the order of their names."""
    return ",".join(f"{name}={_written(name, amount)}" for name, amount in sorted(found))


@lru_cache(maxsize=4096)
def amounts_in(text: str) -> Mapping[str, int]:
    """Read amounts: thousandths of a processor, bytes, or pieces."""
    pairs = (part.partition("=") for part in text.split(",") if part)
    return amounts({name: quantity for name, _, quantity in pairs})


def _written(name: str, amount: int) -> str:
    if name == "cpu":
        return f"{amount}m" if amount % 1000 else str(amount // 1000)
    if not name.startswith(_BYTES):
        return str(amount)
    forms = (str(CelQuantity(amount * _NANOS, suffix)) for suffix in ("binary", "decimal"))
    return min(forms, key=len)
