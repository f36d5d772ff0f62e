"""What a lease looks like; that kube-apiserver reads it so is shown in tests/e2e/test_stored_leases.py."""

import json

import pytest

from kwokctl.dataplane.leases.decode import StoredLease, read_lease, stored_lease
from kwokctl.dataplane.leases.encode import Lease
from tests.support.leases import METADATA


def lease(metadata: dict[str, object], transitions: int = 0) -> Lease:
    return Lease(
        metadata,
        holder="host_1",
        duration=40,
        acquired=1_767_268_800.0,
        renewed=1_767_268_810.123456,
        transitions=transitions,
    )


def as_shown(one: Lease, version: int) -> StoredLease:
    shown = read_lease(json.dumps(one.document()).encode())
    shown.version = str(version)
    return shown


def test_a_document_has_its_times_in_microseconds() -> None:
    assert lease({"name": "n"}, transitions=2).document() == {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": "n"},
        "spec": {
            "holderIdentity": "host_1",
            "leaseDurationSeconds": 40,
            "acquireTime": "2026-01-01T12:00:00.000000Z",
            "renewTime": "2026-01-01T12:00:10.123456Z",
            "leaseTransitions": 2,
        },
    }


@pytest.mark.parametrize("metadata", [METADATA, {"name": "n", "namespace": "kube-node-lease"}])
def test_a_stored_lease_says_what_the_document_says(metadata: dict[str, object]) -> None:
    one = lease(metadata, transitions=1)

    assert stored_lease(one.value(), 7) == as_shown(one, 7)


def test_a_renewal_changes_the_stored_time() -> None:
    one = lease(METADATA)
    before = one.value()
    one.renewed += 10.0

    assert one.value() != before
    assert stored_lease(one.value(), 8) == as_shown(one, 8)


def test_a_lease_stored_as_json_is_read_too() -> None:
    one = lease(METADATA)

    assert stored_lease(json.dumps(one.document()).encode(), 9) == as_shown(one, 9)


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"k8s\x00...",
        b"k8s:enc:aescbc:v1:k:x",
        lease(METADATA).value()[:-5],
        lease(METADATA).value().replace(b"Lease", b"Leash"),
    ],
)
def test_what_is_no_stored_lease_is_not_read(value: bytes) -> None:
    assert stored_lease(value, 1) is None
