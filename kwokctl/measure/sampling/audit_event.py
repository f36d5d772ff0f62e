"""Reads the events of an API server's audit log: the client that has sent a request, and what it did to a node or a pod.

The fields: https://kubernetes.io/docs/reference/config-api/apiserver-audit.v1/
"""

import re

import msgspec

from kwokctl.kube.transport.pool import USER_AGENT
from kwokctl.load.client.sender import AGENT_OF_LOADS
from kwokctl.measure.record.incident_lines import (
    CHANGE_NODE,
    DELETE_NODE,
    DELETE_POD,
    EVICT_POD,
)
from kwokctl.measure.record.run_clock import wall_nanoseconds
from kwokctl.measure.sampling.users_of_kubernetes import is_of_kubernetes
from kwokctl.model import KWOK_CONTROLLER

RECORDER, LOADS = "the recorder", "loads"
"""The names of clients that are kwokctl's own."""
RECORDER_AGENT = f"{USER_AGENT} measure"
"""The user agent of the recorder."""
_CONTROLLER_AGENT = "kwok/"
_ACCOUNT = re.compile(r"system:serviceaccount:[^:]+:(\S+)")
_OWN = {RECORDER_AGENT: RECORDER, AGENT_OF_LOADS: LOADS}
_DRY = "dryRun="
_REFUSED = 429
_BUDGET = "DisruptionBudget"
"""The cause of a refusal by a PodDisruptionBudget; too many requests have the same status, and another cause."""
_ACTS = {
    ("nodes", "", "patch"): CHANGE_NODE,
    ("nodes", "", "update"): CHANGE_NODE,
    ("nodes", "", "delete"): DELETE_NODE,
    ("pods", "eviction", "create"): EVICT_POD,
    ("pods", "", "delete"): DELETE_POD,
}


class _Cause(msgspec.Struct, gc=False):
    reason: str = ""


class _Details(msgspec.Struct, gc=False):
    causes: list[_Cause] | None = None


class _Status(msgspec.Struct, gc=False):
    code: int = 0
    details: _Details | None = None


class _Target(msgspec.Struct, gc=False):
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""


class _User(msgspec.Struct, gc=False):
    username: str = ""


class AuditedAct(msgspec.Struct, frozen=True, gc=False):
    """A request that has changed, evicted or deleted a node or a pod, or an eviction that a budget has refused."""

    begin: int
    """The time of day at which it was received, in nanoseconds since 1970."""
    end: int
    """The time of day of the answer."""
    what: str
    namespace: str
    name: str
    user: str
    """The user in whose name it was done; of the controller of fake nodes its own name."""
    is_refused: bool


class AuditEvent(msgspec.Struct, gc=False, rename="camel"):
    """The fields of an event that are read."""

    stage: str = ""
    verb: str = ""
    user_agent: str = ""
    request_uri: str = msgspec.field(name="requestURI", default="")
    user: _User | None = None
    impersonated_user: _User | None = None
    object_ref: _Target | None = None
    response_status: _Status | None = None
    request_received_timestamp: str = ""
    stage_timestamp: str = ""

    @property
    def is_answer(self) -> bool:
        """Whether a request counts with this event: a watch is answered when it begins."""
        if self.verb == "watch" and self.code < 400:
            return self.stage == "ResponseStarted"
        return self.stage in ("ResponseComplete", "Panic")

    @property
    def code(self) -> int:
        """The status of HTTP."""
        return self.response_status.code if self.response_status else 0

    @property
    def act(self) -> AuditedAct | None:
        """The effect on a node or a pod; None for all other requests.

        Nor do dry runs count, what was refused by anything but a budget, nodes that Kubernetes' own programs change, and pods that they or
        the controller of fake nodes delete: these are many, and no reactions.
        """
        target = self.object_ref
        if target is None or not target.name:
            return None
        what = _ACTS.get((target.resource, target.subresource, self.verb))
        is_refused = what == EVICT_POD and self._is_refused_by_budget()
        is_done = bool(self.code) and self.code < 300
        if what is None or _DRY in self.request_uri or not (is_done or is_refused):
            return None
        who = self._who
        if is_of_kubernetes(who) and what in (CHANGE_NODE, DELETE_POD):
            return None
        if who == KWOK_CONTROLLER and what == DELETE_POD:
            return None
        return AuditedAct(
            wall_nanoseconds(self.request_received_timestamp),
            wall_nanoseconds(self.stage_timestamp),
            what,
            target.namespace,
            target.name,
            who,
            is_refused,
        )

    def _is_refused_by_budget(self) -> bool:
        status = self.response_status
        if status is None or status.code != _REFUSED or status.details is None:
            return False
        return any(each.reason == _BUDGET for each in status.details.causes or ())

    @property
    def _who(self) -> str:
        if self.user_agent.startswith(_CONTROLLER_AGENT):
            return KWOK_CONTROLLER
        found = self.impersonated_user or self.user
        return found.username if found else ""


def client_of(user_agent: str) -> str:
    """Return a short name for a client: its program, and the service account that a controller shows there."""
    if user_agent in _OWN:
        return _OWN[user_agent]
    program, _, more = user_agent.partition(" ")
    name = program.partition("/")[0]
    account = _ACCOUNT.search(more)
    return f"{name}/{account[1]}" if account else name or "unnamed"
