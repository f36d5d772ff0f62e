"""The words with which a user says how reactions are judged. Pure."""

import re

import msgspec

from kwokctl.errors import UsageError
from kwokctl.measure.record.run_clock import SECOND

_NUMBER = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?%?", re.ASCII)
WITHIN = 600 * SECOND


class NodeBudget(msgspec.Struct, frozen=True):
    """The most nodes that may be unavailable at a time."""

    number: float
    is_share: bool
    """Whether it is in percent of the nodes."""

    @classmethod
    def read(cls, text: str) -> "NodeBudget":
        """Read `20` or `20%`; UsageError for what is neither."""
        word = text.strip()
        if not _NUMBER.fullmatch(word):
            raise UsageError(
                f"'--budget' is '{text}', not a number of nodes", hint="for example: 20, or 20%"
            )
        return cls(float(word.removesuffix("%")), word.endswith("%"))

    def of(self, nodes: int) -> float:
        """Return the number of nodes that it allows of `nodes`."""
        return nodes * self.number / 100 if self.is_share else self.number


class ScoreWords(msgspec.Struct, frozen=True, kw_only=True):
    """The words of a user about how reactions are judged."""

    within: int = WITHIN
    """The time after the start of a fault in which an act on its node is about it, in nanoseconds."""
    budget: NodeBudget | None = None
    since: int = 0
    """The time in the record, in nanoseconds, before which no incident counts."""
