"""Finds the user who has sent the request behind an act that was seen, where an audit log was read. Pure.

A request and what is seen of it have no name in common. The request was received before the change was seen, and answered not much
earlier: the watch takes a while. If several users have changed the object in two seconds, only the time that the watch was seen to take
counts; if they are several even then, no user is named.
"""

from collections.abc import Sequence

from kwokctl.measure.histories.history import History
from kwokctl.measure.histories.incident_history import DoneRequest
from kwokctl.measure.record.run_clock import SECOND
from kwokctl.model import KWOK_CONTROLLER

_LEAST, _MOST = SECOND // 10, 2 * SECOND
"""The least that the watch is taken to need, and what it may need if that leaves no doubt."""
_Object = tuple[str, str, str]
"""The effect of a request, and the namespace and the name of the object."""


class Authors:
    """The users of a record's requests."""

    def __init__(self, history: History) -> None:
        """Read the requests of a record."""
        known = history.incidents
        usual = max([_LEAST, *known.lags])
        self._windows = (max(_MOST, usual), usual)
        self._of_object: dict[_Object, list[DoneRequest]] = {}
        self._of_act: dict[str, list[DoneRequest]] = {}
        for each in known.requests:
            if not each.is_refused:
                key = (each.what, each.namespace, each.name)
                self._of_object.setdefault(key, []).append(each)
                self._of_act.setdefault(each.what, []).append(each)

    def of(self, what: str, time: int, name: str, namespace: str = "") -> str:
        """Return who has done something to an object of which the result was seen at a time; empty if that is not known."""
        return self._one(self._of_object.get((what, namespace, name), ()), time)

    def of_any(self, what: str, time: int) -> str:
        """Return who has done something to an object whose name is not recorded."""
        return self._one(self._of_act.get(what, ()), time)

    def _one(self, requests: Sequence[DoneRequest], time: int) -> str:
        for window in self._windows:
            users = {
                each.user for each in requests if each.begin <= time and time - window <= each.end
            }
            if len(users) > 1:
                users.discard(KWOK_CONTROLLER)
            if len(users) == 1:
                return users.pop()
        return ""
