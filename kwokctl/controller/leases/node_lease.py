"""The state of a node's lease for this controller, and the leases that it writes.

Whether it takes, renews or gives up the lease is decided in `keeper`.

Leases are `coordination.k8s.io/v1` objects in the namespace `kube-node-lease`, one for each node and
with its name, as kubelets keep them.
"""

import msgspec

from kwokctl.controller.leases.holder import LABEL, MOVED
from kwokctl.controller.nodes.node_registry import Hold
from kwokctl.controller.scheduling.worker_queue import BatchQueue
from kwokctl.dataplane.leases.decode import StoredLease
from kwokctl.dataplane.leases.encode import Lease
from kwokctl.json_value import Json
from kwokctl.kube.resource import NODE_LEASES


class LeaseClaim(msgspec.Struct, eq=False):
    """The Lease of one node, as this controller knows it and writes it."""

    node: str
    uid: str
    version: str = ""
    """The resourceVersion that the next write builds on; empty if there is no lease yet."""
    acquired: float = 0.0
    """Since when the lease is held, as a POSIX time stamp; 0 if it is not yet."""
    transitions: int = 0
    announced: bool = False
    """Whether the next write tells other controllers that the lease changes hands."""
    _kept: dict[str, Json] = msgspec.field(default_factory=dict)
    """The identity of the lease, and what other programs have given it: labels, finalizers, its deletion."""
    _lease: Lease | None = None

    def adopt(self, stored: StoredLease, *, mine: bool, now: float) -> None:
        """Build on a stored lease: continue one's own, or take over from another holder."""
        self.version = stored.version
        self.transitions = stored.transitions + (not mine and bool(stored.holder))
        self.acquired = stored.acquired if mine else now
        owners = [o for o in stored.owners or () if o.get("kind") != "Node"]
        kept = {
            "uid": stored.uid,
            "creationTimestamp": stored.created,
            "labels": {k: v for k, v in (stored.labels or {}).items() if k != LABEL},
            "annotations": stored.annotations,
            "finalizers": stored.finalizers,
            "ownerReferences": owners,
            "deletionTimestamp": stored.deletion,
            "deletionGracePeriodSeconds": stored.grace,
        }
        self._keep({name: value for name, value in kept.items() if value or value == 0})

    def recognise(self, written: StoredLease) -> None:
        """Build on the lease that the first write has made."""
        identity = {"uid": written.uid, "creationTimestamp": written.created}
        self._keep(self._kept | identity)

    def forget_lease(self) -> None:
        """Begin without a lease: it does not exist any more."""
        self.version = ""
        self._keep({})

    def lease(self, *, holder: str, duration: int, now: float) -> Lease:
        """Return the lease to write at `now`; the next call may change the returned object."""
        self.acquired = self.acquired or now
        if self._lease is None:
            self._lease = Lease(
                self._metadata(announced=self.announced),
                holder=holder,
                duration=duration,
                acquired=self.acquired,
                renewed=now,
                transitions=self.transitions,
            )
        self._lease.renewed = now
        return self._lease

    def settle(self) -> None:
        """Note that the other controllers know: the next write is a renewal like any other."""
        if self.announced:
            self.announced, self._lease = False, None

    def gift(self, to: str, *, duration: int, now: float) -> Lease:
        """Return the lease that makes another controller the holder.

        That is no transition: the nodes are divided again, and none of their kubelets has failed.
        """
        return Lease(
            self._metadata(announced=True),
            holder=to,
            duration=duration,
            acquired=now,
            renewed=now,
            transitions=self.transitions,
        )

    def _metadata(self, *, announced: bool) -> dict[str, Json]:
        owner = {"apiVersion": "v1", "kind": "Node", "name": self.node, "uid": self.uid}
        metadata: dict[str, Json] = {"name": self.node, "namespace": NODE_LEASES, **self._kept}
        metadata["ownerReferences"] = [*self._kept.get("ownerReferences", ()), owner]
        if announced:
            metadata["labels"] = {**self._kept.get("labels", {}), LABEL: MOVED}
        return metadata

    def _keep(self, kept: dict[str, Json]) -> None:
        self._kept, self._lease = kept, None


class NodeLease:
    """One node's lease, from being wanted to the node's end."""

    __slots__ = (
        "_first_seen", "at_once", "beat", "claim", "hold", "holder", "queue", "queued", "seen", "tries", "until", "version",
    )  # fmt: skip

    def __init__(
        self, claim: LeaseClaim, queue: "BatchQueue[NodeLease]", *, at_once: bool = False
    ) -> None:
        """Write or read it through `queue`; with `at_once` one's own that has not ended is renewed at once."""
        self.at_once = at_once
        self.claim = claim
        self.queue = queue
        self.hold = Hold.PENDING
        self.holder = ""
        """The other controller that held it when it was last seen."""
        self.version = 0
        """The resourceVersion at which it was last seen or written."""
        self.seen: StoredLease | None = None
        """The lease of a holder that is gone: what is known of it stays true."""
        self._first_seen = (0, 0.0)
        self.queued = False
        self.tries = 0
        self.beat = 0.0
        """The time of its last due renewal, from which the next times are counted."""
        self.until = 0.0
        """The time at which a held lease ends unless it is renewed."""

    def on_due(self) -> None:
        """Write or read the lease as soon as a worker is free."""
        if not self.queued:
            self.queued = True
            self.queue.put(self)

    def is_news(self, stored: StoredLease) -> bool:
        """Return whether a lease is newer than what is known; lists and watches may lag behind."""
        return stored.number > self.version

    def lasts(self, stored: StoredLease, now: float) -> float:
        """Return how long a version that is not renewed lasts at most, whatever the clock of its writer says.

        Counted from when it was first seen; `now` is the time of the queue.
        """
        if self._first_seen[0] != stored.number:
            self._first_seen = (stored.number, now)
        return self._first_seen[1] + stored.duration - now

    def note(self, stored: StoredLease, *, is_gone: bool) -> None:
        """Note the lease as another controller has left it."""
        self.holder = stored.holder
        self.version = stored.number
        self.seen = stored if is_gone else None
