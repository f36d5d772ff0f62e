"""Describes a cluster's only etcd member: its name, its database file, and its address."""

from pathlib import Path

import msgspec

NAME = "node0"
ADVERTISED_PEER = "http://localhost:2380"
"""A name that is only compared, never dialled: a single member has no peers."""
CLUSTER = f"{NAME}={ADVERTISED_PEER}"
DATABASE = "member/snap/db"
"""The path of etcd's database in its data directory."""


class EtcdTarget(msgspec.Struct, frozen=True, kw_only=True):
    """The address and credentials with which this host reaches an etcd."""

    address: str
    """`unix:/…/etcd.sock` or `host:port`."""
    ca: Path | None = None
    """Without it the connection is plain."""
    cert: Path | None = None
    key: Path | None = None
