"""What a node lease says, whose it is, and what to write into it. Pure.

Leases are `coordination.k8s.io/v1` objects in the namespace `kube-node-lease`, one for each node and
with its name, as kubelets keep them.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import msgspec

from kwokctl.dataplane.lease import Lease
from kwokctl.kube.resource import NODE_LEASES


class _Metadata(msgspec.Struct, rename="camel"):
    name: str = ""
    uid: str = ""
    creation_timestamp: str = ""
    resource_version: str = ""
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    finalizers: list[str] | None = None
    owner_references: list[dict[str, Any]] | None = None
    deletion_timestamp: str | None = None
    deletion_grace_period_seconds: int | None = None


class _Spec(msgspec.Struct, rename="camel"):
    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    acquire_time: str | None = None
    renew_time: str | None = None
    lease_transitions: int | None = None


class StoredLease(msgspec.Struct):
    """A lease as the cluster has it: the fields that matter here."""

    metadata: _Metadata
    spec: _Spec = msgspec.field(default_factory=_Spec)

    def expires(self) -> float:
        """Return when it ends, as a POSIX time stamp; 0 if it was never renewed."""
        spec = self.spec
        if not spec.renew_time or not spec.lease_duration_seconds:
            return 0.0
        return _seconds(spec.renew_time) + spec.lease_duration_seconds


_LEASE = msgspec.json.Decoder(StoredLease)


@dataclass(slots=True, eq=False)
class Claim:
    """What this controller knows and writes of one node's lease."""

    node: str
    uid: str
    version: str = ""
    """The resourceVersion that the next write builds on; empty if there is no lease yet."""
    acquired: float = 0.0
    """Since when the lease is held, as a POSIX time stamp; 0 if it is not yet."""
    transitions: int = 0
    _kept: dict[str, Any] = field(default_factory=dict)
    """Who the lease is, and what somebody else has given it: labels, finalizers, its deletion."""
    _lease: Lease | None = None

    @property
    def lease_uid(self) -> str:
        """Which lease it is; empty if there is none yet."""
        return str(self._kept.get("uid", ""))

    def adopt(self, stored: StoredLease, *, mine: bool, now: float) -> None:
        """Build on a stored lease: go on with one's own, or take over from another holder."""
        metadata, spec = stored.metadata, stored.spec
        self.version = metadata.resource_version
        transitions = spec.lease_transitions or 0
        self.transitions = transitions if mine or not spec.holder_identity else transitions + 1
        since = _seconds(spec.acquire_time) if spec.acquire_time else 0.0
        self.acquired = since if mine else now
        owners = [o for o in metadata.owner_references or () if o.get("kind") != "Node"]
        kept = {
            "uid": metadata.uid,
            "creationTimestamp": metadata.creation_timestamp,
            "labels": metadata.labels,
            "annotations": metadata.annotations,
            "finalizers": metadata.finalizers,
            "ownerReferences": owners,
            "deletionTimestamp": metadata.deletion_timestamp,
            "deletionGracePeriodSeconds": metadata.deletion_grace_period_seconds,
        }
        self._keep({name: value for name, value in kept.items() if value or value == 0})

    def recognise(self, written: StoredLease) -> None:
        """Build on the lease that the first write has made."""
        metadata = written.metadata
        self._keep(
            self._kept | {"uid": metadata.uid, "creationTimestamp": metadata.creation_timestamp}
        )

    def annotate(self, name: str, text: str) -> None:
        """Give the lease an annotation."""
        annotations = self._kept.get("annotations", {})
        self._keep(self._kept | {"annotations": annotations | {name: text}})

    def forget_lease(self) -> None:
        """Build on no lease: there is none any more."""
        self.version = ""
        self._keep({})

    def lease(self, *, holder: str, duration: int, now: float) -> Lease:
        """Return the lease as it is to be from `now` on; the next call may change what it returned."""
        self.acquired = self.acquired or now
        if self._lease is None:
            owner = {"apiVersion": "v1", "kind": "Node", "name": self.node, "uid": self.uid}
            metadata: dict[str, Any] = {"name": self.node, "namespace": NODE_LEASES, **self._kept}
            metadata["ownerReferences"] = [*self._kept.get("ownerReferences", ()), owner]
            self._lease = Lease(
                metadata,
                holder=holder,
                duration=duration,
                acquired=self.acquired,
                renewed=now,
                transitions=self.transitions,
            )
        self._lease.renewed = now
        return self._lease

    def _keep(self, kept: dict[str, Any]) -> None:
        self._kept, self._lease = kept, None


def read_lease(raw: bytes) -> StoredLease:
    """Decode a lease."""
    return _LEASE.decode(raw)


def _seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()
