"""Where an etcd is, and what is shown to it: the same for every client of it."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class EtcdTarget:
    """How this host reaches an etcd."""

    address: str
    """`unix:/…/etcd.sock` or `host:port`."""
    ca: Path | None = None
    """Without it the connection is plain."""
    cert: Path | None = None
    key: Path | None = None
