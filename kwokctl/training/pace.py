"""The progress of the program of a container that faults have slowed or stopped. Pure.

It is in an annotation of the pod, so that any controller can continue from it: the time that a program has lost
stays lost when the fault is over.
"""

from collections.abc import Mapping

import msgspec

from kwokctl.json_value import Json

PROGRESS = "kwokctl.dev/progress"
"""The annotation of a pod: a JSON object by the names of its containers."""


class ProgramPace(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The pace of one run of a container."""

    run: int
    """The start of the run, as a POSIX time stamp: another run begins anew."""
    lost: float = 0.0
    """The seconds that the program had lost at `since`."""
    speed: float = 1.0
    """The part of its usual speed since then: 0 hangs."""
    since: float = 0.0
    wrong: str = ""
    """The fault that has made its result wrong."""

    def at(self, at: float, speed: float) -> "ProgramPace":
        """Return the pace with another speed from a time on."""
        lost = self.lost + max(0.0, at - self.since) * (1 - self.speed)
        return ProgramPace(
            run=self.run, lost=round(lost, 3), speed=speed, since=at, wrong=self.wrong
        )

    def done(self, length: float) -> float | None:
        """Return when a program is done that usually takes `length` seconds; None: not at this pace."""
        left = length - (self.since - self.run - self.lost)
        if self.speed <= 0:
            return None if left > 0 else self.since
        return self.since + left / self.speed


Paces = Mapping[str, ProgramPace]
"""By the name of the container."""


def paces_in(meta: Mapping[str, Json]) -> Paces:
    """Return the paces in the annotation of a pod; an empty mapping if it cannot be read."""
    text = (meta.get("annotations") or {}).get(PROGRESS)
    try:
        return _decode(text) if text else {}
    except (msgspec.MsgspecError, TypeError):
        return {}


def paces_text(paces: Paces) -> str:
    """Return the value of the annotation."""
    return _encode(paces).decode()


_decode = msgspec.json.Decoder(dict[str, ProgramPace]).decode
_encode = msgspec.json.Encoder(order="deterministic").encode
