"""What Stages see of a new object beside its content: the time, and its addresses."""

from collections.abc import Sequence
from dataclasses import dataclass

from kwokctl.json_value import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnValues:
    """What a fake kubelet knows of one new object beside the object: texts, or symbols for them."""

    now: Json
    """The time at which it is created, in RFC 3339 with nanoseconds."""
    pod_ips: Sequence[Json] = ()
    host_ips: Sequence[Json] = ()
