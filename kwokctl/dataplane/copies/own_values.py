"""The values that Stages see of a new object beside its content: the time, and its addresses."""

from collections.abc import Sequence

import msgspec

from kwokctl.json_value import Json


class OwnValues(msgspec.Struct, frozen=True, kw_only=True):
    """The time and addresses of one new object: texts, or symbols for them."""

    now: Json
    """The time at which it is created, in RFC 3339 with nanoseconds."""
    pod_ips: Sequence[Json] = ()
    host_ips: Sequence[Json] = ()
