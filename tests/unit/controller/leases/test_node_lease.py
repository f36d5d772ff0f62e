""""""

import json

from kwokctl.controller.leases.node_lease import LeaseClaim
from kwokctl.dataplane.leases.decode import read_lease
from kwokctl.dataplane.leases.encode import micro_time

NOON = 1_767_268_800.0
MINE, OTHER = "host_1", "host_2"


def stored(**spec: object) -> bytes:
    metadata = {
        "name": "n",
        "resourceVersion": "7",
        "labels": {"a": "b"},
        "ownerReferences": [
            {"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "old"},
            {"apiVersion": "v1", "kind": "Thing", "name": "t", "uid": "t"},
        ],
    }
    return json.dumps({"metadata": metadata, "spec": spec}).encode()


def test_a_new_lease_is_owned_by_its_node() -> None:
    claim = LeaseClaim("n", "u")

    body = claim.lease(holder=MINE, duration=40, now=NOON).document()

    assert body["metadata"] == {
        "name": "n",
        "namespace": "kube-node-lease",
        "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u"}],
    }
    assert body["spec"] == {
        "holderIdentity": MINE,
        "leaseDurationSeconds": 40,
        "acquireTime": "2026-01-01T12:00:00.000000Z",
        "renewTime": "2026-01-01T12:00:00.000000Z",
        "leaseTransitions": 0,
    }


def test_a_renewal_moves_only_the_renewal() -> None:
    claim = LeaseClaim("n", "u")
    claim.lease(holder=MINE, duration=40, now=NOON).document()

    body = claim.lease(holder=MINE, duration=40, now=NOON + 10).document()

    assert body["spec"]["acquireTime"] == "2026-01-01T12:00:00.000000Z"
    assert body["spec"]["renewTime"] == "2026-01-01T12:00:10.000000Z"


def test_taking_over_counts_a_transition_and_keeps_what_others_wrote() -> None:
    lease = read_lease(
        stored(holderIdentity=OTHER, leaseTransitions=2, acquireTime="2025-01-01T00:00:00Z")
    )
    claim = LeaseClaim("n", "u")

    claim.adopt(lease, mine=False, now=NOON)
    body = claim.lease(holder=MINE, duration=40, now=NOON).document()

    assert body["spec"]["leaseTransitions"] == 3
    assert body["spec"]["acquireTime"] == micro_time(NOON)
    assert body["metadata"]["labels"] == {"a": "b"}
    assert [owner["uid"] for owner in body["metadata"]["ownerReferences"]] == ["t", "u"]


def test_going_on_with_an_own_lease_counts_no_transition() -> None:
    lease = read_lease(
        stored(holderIdentity=MINE, leaseTransitions=2, acquireTime="2025-01-01T00:00:00Z")
    )
    claim = LeaseClaim("n", "u")

    claim.adopt(lease, mine=True, now=NOON)
    body = claim.lease(holder=MINE, duration=40, now=NOON).document()

    assert body["spec"]["leaseTransitions"] == 2
    assert body["spec"]["acquireTime"] == "2025-01-01T00:00:00.000000Z"


def test_a_lease_without_a_holder_counts_no_transition() -> None:
    claim = LeaseClaim("n", "u")

    claim.adopt(read_lease(stored(holderIdentity="")), mine=False, now=NOON)

    assert claim.transitions == 0


def test_a_lease_ends_its_duration_after_the_last_renewal() -> None:
    lease = read_lease(stored(renewTime="2026-01-01T12:00:00.500000Z", leaseDurationSeconds=40))

    assert lease.expires() == NOON + 40.5


def test_a_lease_that_was_never_renewed_has_ended() -> None:
    assert read_lease(stored()).expires() == 0.0
    assert read_lease(b'{"metadata":{"name":"n"}}').expires() == 0.0


def test_a_lease_that_others_may_have_made_is_taken_for_what_it_is() -> None:
    claim = LeaseClaim("n", "u")
    claim.recognise(
        read_lease(b'{"metadata":{"uid":"l","creationTimestamp":"2026-01-01T00:00:00Z"}}')
    )

    metadata = claim.lease(holder=MINE, duration=40, now=NOON).document()["metadata"]
    claim.forget_lease()
    anew = claim.lease(holder=MINE, duration=40, now=NOON).document()["metadata"]

    assert (metadata["uid"], metadata["creationTimestamp"]) == ("l", "2026-01-01T00:00:00Z")
    assert "uid" not in anew


def test_a_lease_that_is_being_deleted_stays_so() -> None:
    claim = LeaseClaim("n", "u")
    deletion = b'"deletionTimestamp":"2026-01-01T00:00:00Z","deletionGracePeriodSeconds":0'

    claim.adopt(
        read_lease(b'{"metadata":{"finalizers":["f"],' + deletion + b"}}"), mine=True, now=1.0
    )

    metadata = claim.lease(holder=MINE, duration=40, now=NOON).document()["metadata"]
    assert metadata["deletionTimestamp"] == "2026-01-01T00:00:00Z"
    assert metadata["deletionGracePeriodSeconds"] == 0
