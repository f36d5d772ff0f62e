"""The one member that every etcd of ours has, told alike to etcd and to what restores its data."""

NAME = "node0"
ADVERTISED_PEER = "http://localhost:2380"
"""A name that is only compared, never dialled: a single member has no peers."""
CLUSTER = f"{NAME}={ADVERTISED_PEER}"
DATABASE = "member/snap/db"
"""Where in its data directory an etcd keeps its database."""
