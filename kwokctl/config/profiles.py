"""Profiles: options that belong together for clusters of a size. Explicit options take precedence.

The sizes of etcd's quota, and what each needs, follow from the figures of `clusters/capacity.py`. Where
the profiles do not differ, docs/how-to/scale-to-ten-thousand-nodes.md says why.
"""

from collections.abc import Mapping

import msgspec

from kwokctl.config.declaring import OptionValue

FIELD = "profile"


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """The size that a cluster is meant for, and the options for it."""

    nodes: int
    pods: int
    values: Mapping[str, OptionValue] = msgspec.field(default_factory=dict)
    """By the names of the options."""


def _values(*, quota: str, heartbeat: str, go_gc: int, parallelism: int) -> dict[str, OptionValue]:
    return {
        "controller_parallelism": parallelism,
        # Lifts the limits of requests in flight, too.
        "disable_qps_limits": True,
        "etcd_quota_backend_size": quota,
        "node_heartbeat": heartbeat,
        "go_gc": go_gc,
    }


PROFILES: Mapping[str, Profile] = {
    # For machines that run other things: less memory, and fewer writes at once.
    "small": Profile(
        nodes=100,
        pods=1_000,
        values=_values(quota="1Gi", heartbeat="real", go_gc=100, parallelism=16),
    ),
    "1k": Profile(
        nodes=1_000,
        pods=10_000,
        values=_values(quota="2Gi", heartbeat="real", go_gc=200, parallelism=64),
    ),
    "10k": Profile(
        nodes=10_000,
        pods=100_000,
        values=_values(quota="8Gi", heartbeat="real", go_gc=200, parallelism=64),
    ),
    # 5,000 renewals a second would keep etcd and the API server busy with nothing else. Memory is
    # what such a cluster lacks first, so garbage is collected as early as Go does by itself.
    "50k": Profile(
        nodes=50_000,
        pods=200_000,
        values=_values(quota="16Gi", heartbeat="stretched", go_gc=100, parallelism=64),
    ),
}


def defaults(values: Mapping[str, OptionValue]) -> Mapping[str, OptionValue]:
    """Return the options of the chosen profile; none if none is chosen."""
    found = PROFILES.get(str(values.get(FIELD, "")))
    return found.values if found else {}
