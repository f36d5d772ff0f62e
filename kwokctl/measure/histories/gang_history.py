"""The objects of a record that make or describe gangs."""

from collections.abc import Callable
from typing import Any

from kwokctl.measure.histories.object_history import ObjectHistory
from kwokctl.measure.record.gang_lines import GangChange, GangGone, GangSeen


class GangHistory:
    """All such objects of a record."""

    def __init__(self) -> None:
        self.objects: dict[int, ObjectHistory] = {}
        self.named: dict[tuple[str, str, str], ObjectHistory] = {}
        """By kind, namespace and name."""
        self.takers: dict[type, Callable[[Any], None]] = {
            GangSeen: self._seen,
            GangChange: self._change,
            GangGone: self._gone,
        }

    def _seen(self, line: GangSeen) -> None:
        found = ObjectHistory.begun(line, line.kind)
        self.objects[line.number] = found
        self.named[line.kind, line.namespace, line.name] = found

    def _change(self, line: GangChange) -> None:
        self.objects[line.number].follow(line)

    def _gone(self, line: GangGone) -> None:
        self.objects[line.number].gone = line.time
