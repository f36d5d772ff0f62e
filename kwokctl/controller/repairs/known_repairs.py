"""The Repairs and RepairPolicies that this controller knows in its cluster."""

from collections.abc import Callable, Collection, Iterator, Mapping

import msgspec

from kwokctl.config.config_documents import Document
from kwokctl.config.document_kinds import OWN, REPAIR_POLICY
from kwokctl.errors import ConfigError
from kwokctl.faults.objects.fault_schema import ObjectMeta
from kwokctl.faults.repairs.policies import NO_POLICY
from kwokctl.faults.repairs.policy_reader import read_policy
from kwokctl.faults.repairs.policy_schema import RepairPolicySpec
from kwokctl.faults.repairs.repair_schema import StoredRepair
from kwokctl.json_value import Json


class PolicyStatus(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a policy."""

    message: str = ""


class StoredPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """A RepairPolicy as the cluster has it."""

    metadata: ObjectMeta
    spec: dict[str, Json]
    status: PolicyStatus = msgspec.field(default_factory=PolicyStatus)


class KnownRepairs:
    """All Repairs by name, and the policies that can be used."""

    def __init__(self, changed: Callable[[], None]) -> None:
        """Begin without any; `changed` is called whenever something is another than before."""
        self._changed = changed
        self._repairs: dict[str, StoredRepair] = {}
        self._stored: dict[str, StoredPolicy] = {}
        self.policies: dict[str, RepairPolicySpec] = {}
        self.problems: dict[str, str] = {}
        """The reasons why policies cannot be used, by name."""

    def __len__(self) -> int:
        """Count repairs and policies: 0 means that nothing is to be done."""
        return len(self._repairs) + len(self._stored)

    @property
    def all(self) -> Collection[StoredRepair]:
        """All Repairs."""
        return self._repairs.values()

    def get(self, name: str) -> StoredRepair | None:
        """Return a Repair, or None."""
        return self._repairs.get(name)

    def open(self) -> Iterator[StoredRepair]:
        """Yield those that are not over."""
        return (each for each in self._repairs.values() if not each.is_over)

    def is_in_repair(self, node_uid: str) -> bool:
        """Return whether a repair of a node, by uid, goes on."""
        return any(
            each.status.phase == "Running" and each.status.node_uid == node_uid
            for each in self._repairs.values()
        )

    def policy(self, name: str) -> RepairPolicySpec:
        """Return a policy; what a repair goes by without one if there is no such policy any more."""
        return self.policies.get(name, NO_POLICY)

    def stored_policies(self) -> Mapping[str, StoredPolicy]:
        """Return the policies as the cluster has them, also those that cannot be used."""
        return self._stored

    def note(self, repair: StoredRepair) -> None:
        """Note a Repair as it is now, unless a newer state is known."""
        known = self._repairs.get(repair.name)
        if known is not None and known.metadata.uid == repair.metadata.uid:
            before, after = known.metadata.resource_version, repair.metadata.resource_version
            if int(after or 0) <= int(before or 0):
                return
        self._repairs[repair.name] = repair
        self._changed()

    def drop(self, name: str, uid: str) -> None:
        """Note that a Repair does not exist any more."""
        known = self._repairs.get(name)
        if known is not None and uid in ("", known.metadata.uid):
            del self._repairs[name]
            self._changed()

    def note_policy(self, stored: StoredPolicy) -> None:
        """Note a policy as it is now."""
        name = stored.metadata.name
        before, self._stored[name] = self._stored.get(name), stored
        if before is not None and before.spec == stored.spec:
            return
        self.policies.pop(name, None)
        self.problems.pop(name, None)
        try:
            self.policies[name] = read_policy(_document(stored)).spec
        except ConfigError as e:
            self.problems[name] = f"{e}; {e.hint}" if e.hint else str(e)
        self._changed()

    def drop_policy(self, name: str) -> None:
        """Note that a policy does not exist any more."""
        for known in (self._stored, self.policies, self.problems):
            known.pop(name, None)
        self._changed()

    def forget(self) -> None:
        """Note that the cluster has none: their kinds were removed."""
        for known in (self._repairs, self._stored, self.policies, self.problems):
            known.clear()
        self._changed()


def _document(stored: StoredPolicy) -> Document:
    name = stored.metadata.name
    body = {
        "apiVersion": OWN,
        "kind": REPAIR_POLICY,
        "metadata": {"name": name},
        "spec": stored.spec,
    }
    return Document(
        kind=REPAIR_POLICY,
        api_version=OWN,
        name=name,
        body=body,
        source=f"{REPAIR_POLICY} {name!r} of the cluster",
    )
