"""The steps of one repair: it is accepted, begins, goes on, decides which faults it ends, and is over.

Each step is safe to repeat: what is drawn follows from names, what is decided is stored before anything is done, and what is done is
the same when it is done again. So a repair ends once, whatever is killed meanwhile.
"""

import logging
from collections.abc import Callable

import msgspec

from kwokctl.controller.known_faults.open_faults import OpenFaults
from kwokctl.controller.known_faults.unit_endings import UnitEnding, stored
from kwokctl.controller.nodes.node_registry import NodeRegistry
from kwokctl.controller.repairs.known_repairs import KnownRepairs
from kwokctl.controller.repairs.repair_objects import RepairObjects
from kwokctl.errors import ExpressionError
from kwokctl.expr.duration import format_time, parse_duration, parse_time
from kwokctl.faults.objects.fault_schema import StoredFault
from kwokctl.faults.repairs.answers import answer_of, in_use, words_of
from kwokctl.faults.repairs.policies import (
    OpenOnNode,
    allowed_cause,
    attempt_of,
    idle_within,
    outcome,
    rules_of,
    takes,
)
from kwokctl.faults.repairs.repair_actions import KNOWN, REPLACE, Action
from kwokctl.faults.repairs.repair_schema import (
    REPAIR_LABEL,
    RepairCause,
    RepairPhase,
    RepairStatus,
    StoredRepair,
)
from kwokctl.faults.repairs.replaced_node import read_replacement, replacement_of, replacement_text
from kwokctl.faults.targets.candidates import candidate
from kwokctl.replacing import replace

log = logging.getLogger(__name__)

_NOTHING = "0s"
_DELETED = "the node was deleted meanwhile"
_GRACE = 5.0
"""Seconds after its creation in which a node or a policy that a repair names may become known."""
_AGAIN = 1.0
"""Seconds until the next look at what others are to store."""
_LOOK = 2.0
"""Seconds between looks whether pods still use a node."""
_NOT_TO_COME = frozenset({"Cleared", "Refused"})
"""The phases of a Fault that no node will show."""


class RepairSteps:
    """Takes repairs from one step to the next, while this controller is the leader."""

    def __init__(
        self,
        known: KnownRepairs,
        objects: RepairObjects,
        faults: OpenFaults,
        nodes: NodeRegistry,
        wall: Callable[[], float],
        unlabelled: Callable[[str, int], None],
    ) -> None:
        """Repair the managed `nodes`; `wall` returns the time of day.

        `unlabelled` gets the name of each node that lacks a label by now, and its version.
        """
        self._known = known
        self._objects = objects
        self._faults = faults
        self._nodes = nodes
        self._wall = wall
        self._unlabelled = unlabelled

    async def accept(self, repair: StoredRepair, policy: str) -> float | None:
        """Queue a repair by a policy, or refuse it; return the seconds until it is to be looked at again.

        `policy` is empty for none. Raises RequestError, as all steps do, if the cluster does not answer as expected.
        """
        cause = repair.spec.cause or RepairCause()
        if problem := self._problem(repair, policy):
            made = repair.metadata.creation_timestamp
            age = self._wall() - parse_time(made) if made else _GRACE
            if age < _GRACE:
                return _GRACE - age
            await self._end(repair, "Refused", problem)
            return None
        asker = allowed_cause(self._known.policy(policy), cause).request
        if asker is not None and asker.answer:
            await self._objects.answer(asker, {"startTime": format_time(self._wall())})
        status = replace(
            repair.status,
            phase="Queued",
            trigger=cause.trigger,
            by=cause.by or _maker(repair),
            policy=policy,
            accepted_at=self._now(),
        )
        await self._put(repair, status)
        return 0.0

    async def begin(self, repair: StoredRepair) -> None:
        """Begin a repair that has a slot, once the node that it is for is known."""
        action, node = repair.spec.action, self._nodes.get(repair.spec.node)
        cause = repair.spec.cause or RepairCause()
        attempt = attempt_of(repair, self._known.all)
        policy = self._known.policy(repair.status.policy)
        uid = cause.node_uid if _is_of_deleted(cause) or node is None else node.uid
        if cause.node_uid not in ("", uid) and not cause.after:
            found = await self._objects.node(repair.spec.node)
            if found is None or found["metadata"]["uid"] != cause.node_uid:
                await self._end(repair, "Failed", _DELETED)
            return  # else the watch of nodes is behind
        status = replace(
            repair.status,
            phase="Running",
            started_at=self._now(),
            clock=self._faults.clock.now(),
            takes=None if KNOWN[action].needs_idle else takes(policy, repair, action, attempt),
            attempt=attempt,
            node_uid=uid,
        )
        await self._put(repair, status)

    async def go_on(self, repair: StoredRepair) -> float | None:
        """Do what is due for a repair that has begun; return the seconds until more is."""
        status, action = repair.status, repair.spec.action
        if action == REPLACE:
            repair = await self._remove_old(repair)
            status = repair.status
            if not status.replacement:
                await self._end(repair, "Failed", _DELETED)
                return None
        elif (node := self._nodes.get(repair.spec.node)) is None or node.uid != status.node_uid:
            await self._objects.hide(_fault_name(repair))
            await self._end(repair, "Failed", _DELETED)
            return None
        elif _shows_something(repair) and status.decided is None:
            await self._objects.show(_fault_name(repair), repair, KNOWN[action].shows)
        if status.decided is None:
            return await self._until_decided(repair)
        if not self._is_stored(repair):
            return _AGAIN
        if action == REPLACE and not await self._make_new(repair):
            return _AGAIN
        await self._finish(repair)
        return None

    def _problem(self, repair: StoredRepair, policy: str) -> str:
        """Return why a repair cannot be done; empty if it can."""
        return self._policy_problem(repair, policy) or self._node_problem(repair)

    def _policy_problem(self, repair: StoredRepair, policy: str) -> str:
        if policy in self._known.problems:
            return f"the RepairPolicy '{policy}' cannot be used: {self._known.problems[policy]}"
        if policy and policy not in self._known.policies:
            known = ", ".join(sorted(self._known.policies)) or "none"
            return f"there is no RepairPolicy '{policy}'; there are: {known}"
        if rules_of(self._known.policy(policy), repair.spec.action) is None:
            offered = ", ".join(self._known.policy(policy).actions)
            return f"the RepairPolicy '{policy}' does not offer '{repair.spec.action}'; it offers: {offered}"
        return ""

    def _node_problem(self, repair: StoredRepair) -> str:
        spec = repair.spec
        try:
            parse_duration(spec.takes or _NOTHING)
        except ExpressionError as e:  # a definition of an earlier version does not check it
            return f"'spec.takes' cannot be read: {e}"
        if spec.cause is not None and _is_of_deleted(spec.cause):
            return (
                ""
                if repair.status.replacement
                else "it is not known what the deleted node was like"
            )
        if self._nodes.get(spec.node) is None:
            return f"no controller of kwokctl plays a node '{spec.node}'"
        return ""

    async def _remove_old(self, repair: StoredRepair) -> StoredRepair:
        """Delete the node that is replaced, after what is to be made in its place is stored; return the Repair as it is then."""
        node = await self._objects.node(repair.spec.node)
        if node is None or node["metadata"]["uid"] != repair.status.node_uid:
            return repair
        if not repair.status.replacement:
            slices = await self._objects.slices_of(repair.spec.node)
            made = replacement_of(node, slices, repair.name, self._wall())
            kept = replace(repair.status, replacement=replacement_text(made))
            repair = await self._put(repair, kept)
        await self._objects.delete_node(repair.spec.node, repair.status.node_uid)
        return repair

    async def _make_new(self, repair: StoredRepair) -> bool:
        """Make the node anew, once it is gone; return whether the faults that were not ended are known to hit it."""
        try:
            made = read_replacement(repair.status.replacement)
        except msgspec.MsgspecError:
            log.warning("repair %r: 'status.replacement' is no node", repair.name)
            return True
        node = await self._objects.node(repair.spec.node)
        if node is None:
            await self._objects.delete_pods(repair.spec.node)
        elif node["metadata"]["uid"] == repair.status.node_uid:
            return False  # finalizers keep it for a while
        uid = await self._objects.make_node(made)
        moved = UnitEnding(moved_to=uid)
        return self._all_stored(repair, repair.status.left, moved)

    async def _until_decided(self, repair: StoredRepair) -> float:
        """Wait for the end of a repair, and decide then what it ends; return the seconds until there is more to do."""
        status = repair.status
        if status.takes is None:
            return await self._until_idle(repair)
        left = (status.clock or 0.0) + status.takes - self._faults.clock.now()
        if left > 0:
            return left
        if _shows_something(repair) and not self._has_shown(repair):
            return _AGAIN
        await self._decide(repair)
        return 0.0

    def _has_shown(self, repair: StoredRepair) -> bool:
        """Return whether the node has shown that it is repaired: a reboot that no kubelet has noticed has no new boot id."""
        name = _fault_name(repair)
        for uid, fault in self._faults.faults.items():
            if fault.metadata.name == name:
                rows = self._faults.units(uid)
                is_seen = any(row.landed is not None or row.problem for row in rows)
                return is_seen or fault.status.phase in _NOT_TO_COME
        return False

    async def _until_idle(self, repair: StoredRepair) -> float:
        """Begin the length of a repair when no pod uses a GPU of its node; fail if that takes too long."""
        status, policy = repair.status, self._known.policy(repair.status.policy)
        name, now = repair.spec.node, self._faults.clock.now()
        node = await self._objects.node(name)
        users = () if node is None else candidate(node, await self._objects.pods_on(name)).gpu_users
        left = (status.clock or 0.0) + idle_within(policy, repair.spec.action) - now
        if not users:
            length = takes(policy, repair, repair.spec.action, status.attempt)
            begun = replace(status, clock=now, takes=length, in_use=(), message="")
            await self._put(repair, begun)
            return 0.0
        if left <= 0:
            names = sorted(each.name for each in self._open_on(status.node_uid))
            await self._put(repair, replace(status, decided=now, left=tuple(names), in_use=users))
            return 0.0
        if users != status.in_use:
            message = f"it waits, because {in_use(users)}"
            await self._put(repair, replace(status, in_use=users, message=message))
        return min(left, _LOOK)

    async def _decide(self, repair: StoredRepair) -> None:
        """Store which faults a repair ends, before it ends them."""
        status, policy = repair.status, self._known.policy(repair.status.policy)
        found = outcome(
            policy,
            repair.spec.node,
            repair.spec.action,
            status.attempt,
            self._open_on(status.node_uid),
        )
        decided = replace(
            status,
            decided=self._faults.clock.now(),
            cleared=found.cleared,
            left=found.left,
            asleep=found.asleep if repair.spec.action != REPLACE else (),
        )
        await self._put(repair, decided)

    def _open_on(self, node_uid: str) -> list[OpenOnNode]:
        """Return the faults that are open on a node, also those that are asleep, without what repairs show."""
        asleep = {uid for uid, row in self._faults.asleep() if row.unit.node_uid == node_uid}
        uids = {*self._faults.of_node(node_uid), *asleep} & self._faults.faults.keys()
        found = [self._faults.faults[uid] for uid in uids]
        return [
            OpenOnNode(
                name=each.metadata.name,
                uid=each.metadata.uid,
                class_name=each.spec.class_name,
                spec=None if (known := self._faults.definition(each)) is None else known.found.spec,
            )
            for each in found
            if REPAIR_LABEL not in (each.metadata.labels or {})
            and self._faults.is_open(each.metadata.uid)
        ]

    def _is_stored(self, repair: StoredRepair) -> bool:
        """Return whether the rows of the faults say what was decided; have them say it if not."""
        status = repair.status
        ended = UnitEnding(at=status.decided)
        asleep = UnitEnding(at=status.decided, asleep=True)
        # Both are asked for, so that they are stored side by side.
        done = [
            self._all_stored(repair, status.cleared, ended),
            self._all_stored(repair, status.asleep, asleep),
        ]
        return all(done)

    def _all_stored(self, repair: StoredRepair, names: tuple[str, ...], ending: UnitEnding) -> bool:
        node, waits = repair.status.node_uid, False
        for fault in self._named(names):
            uid = fault.metadata.uid
            if not self._faults.is_open(uid) or stored(self._faults.units(uid), node, ending):
                self._faults.endings.forget(uid, node)
            else:
                self._faults.end(uid, node, ending)
                waits = True
        return not waits

    def _named(self, names: tuple[str, ...]) -> list[StoredFault]:
        if not names:
            return []
        return [each for each in self._faults.faults.values() if each.metadata.name in names]

    async def _finish(self, repair: StoredRepair) -> None:
        """End a repair whose faults are over: take back what it shows, and answer the remediator that asked for it."""
        status, policy = repair.status, self._known.policy(repair.status.policy)
        cause = allowed_cause(policy, repair.spec.cause or RepairCause())
        failed = bool(status.in_use) or any(name not in status.asleep for name in status.left)
        rules = rules_of(policy, repair.spec.action)
        following = rules.if_failed if rules is not None and failed else None
        await self._objects.hide(_fault_name(repair))
        if following is not None:
            await self._follow(repair, following)
        else:
            if cause.label:
                version = await self._objects.unlabel(repair.spec.node, cause.label)
                self._unlabelled(repair.spec.node, version)
            if cause.request is not None and cause.request.answer:
                await self._objects.answer(
                    cause.request,
                    answer_of(cause.request.kind, format_time(self._wall()), is_good=not failed),
                )
        if not failed and policy.uncordon:
            await self._objects.uncordon(repair.spec.node)
        await self._end(repair, "Failed" if failed else "Succeeded", words_of(status, following))

    async def _follow(self, repair: StoredRepair, action: Action) -> None:
        """Make the repair that follows one which has failed."""
        cause = replace(repair.spec.cause or RepairCause(), after=repair.name)
        if (
            repair.spec.action == REPLACE
            and (node := self._nodes.get(repair.spec.node)) is not None
        ):
            cause = replace(cause, node_uid=node.uid)
        spec = replace(
            repair.spec, action=action, policy=repair.status.policy, takes="", cause=cause
        )
        made = await self._objects.create(f"{repair.name}.{action}", spec)
        if made is not None:
            self._known.note(made)

    async def _end(self, repair: StoredRepair, phase: RepairPhase, message: str) -> None:
        cause = repair.spec.cause or RepairCause()
        status = repair.status
        if not status.trigger:
            status = replace(status, trigger=cause.trigger, by=cause.by or _maker(repair))
        over = replace(status, phase=phase, ended_at=self._now(), message=message, replacement="")
        await self._put(repair, over)

    async def _put(self, repair: StoredRepair, status: RepairStatus) -> StoredRepair:
        stored = await self._objects.put_status(repair, status)
        # Otherwise the watch has shown before that it was deleted.
        if self._known.get(repair.name) is not None:
            self._known.note(stored)
        return stored

    def _now(self) -> str:
        """Return the time of day with microseconds."""
        now = self._wall()
        return f"{format_time(int(now))[:-1]}.{int(now % 1 * 1e6):06d}Z"


def _is_of_deleted(cause: RepairCause) -> bool:
    """Return whether a repair is of a node that does not exist; what follows it is of the one that it has made."""
    return cause.trigger == "deleted" and not cause.after


def _shows_something(repair: StoredRepair) -> bool:
    """Return whether the node shows a fault while it is repaired: one that is replaced does not exist meanwhile."""
    action = repair.spec.action
    return action != REPLACE and bool(KNOWN[action].shows)


def _fault_name(repair: StoredRepair) -> str:
    return f"repair-{repair.name}"[:253]


def _maker(repair: StoredRepair) -> str:
    """Return the client that has made a Repair."""
    fields = repair.metadata.managed_fields
    return str(fields[0].get("manager", "")) if fields else ""
