"""A keeper's state of one node's lease."""

from kwokctl.controller.leases.claim import LeaseClaim
from kwokctl.controller.nodes.registry import Hold
from kwokctl.controller.scheduling.worker_queue import BatchQueue
from kwokctl.dataplane.leases.decode import StoredLease


class NodeLease:
    """One node's lease, from being wanted to the node's end."""

    __slots__ = (
        "beat", "claim", "hold", "holder", "queue", "queued", "seen", "tries", "until", "version",
    )  # fmt: skip

    def __init__(self, claim: LeaseClaim, queue: "BatchQueue[NodeLease]") -> None:
        """Write or read it through `queue`."""
        self.claim = claim
        self.queue = queue
        self.hold = Hold.PENDING
        self.holder = ""
        """The other controller that held it when it was last seen."""
        self.version = 0
        """The resourceVersion at which it was last seen or written."""
        self.seen: StoredLease | None = None
        """The lease of a holder that is gone: what is known of it stays true."""
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

    def note(self, stored: StoredLease, *, is_gone: bool) -> None:
        """Note the lease as another controller has left it."""
        self.holder = stored.holder
        self.version = stored.number
        self.seen = stored if is_gone else None
