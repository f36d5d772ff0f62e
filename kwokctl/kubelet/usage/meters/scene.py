"""The values that all meters of a node share."""

import msgspec

from kwokctl.expr.cel import MeasuredObject
from kwokctl.kubelet.usage.expressions.language import UsageLanguage
from kwokctl.kubelet.usage.rules.rules import UsageRules


class Scene(msgspec.Struct):
    """The rules for what the containers of a node use, and the moment of the measurement."""

    rules: UsageRules
    language: UsageLanguage
    node_object: MeasuredObject

    @property
    def now(self) -> float:
        """The moment, as a POSIX time stamp."""
        return self.language.moment / 1e9
