"""Controllers that share nodes: they join, leave and are killed."""

import asyncio

import pytest

from kwokctl.config.config_documents import Document
from kwokctl.controller.stages.compiled_stage import Stage
from kwokctl.controller.stages.stage_reader import read_stages
from kwokctl.dataplane.port import ObjectKey
from kwokctl.errors import ApiError
from kwokctl.expr import yaml
from kwokctl.kube.resource import LEASES, NODE_LEASES, NODES, PODS
from tests.support.fleet_rig import Rig, node, pod
from tests.support.sharing_rig import Member, Sharing, leases, story

NAMESPACE_STAGE = """
kind: Stage
metadata: {name: tell}
spec:
  resourceRef: {kind: Namespace}
  selector: {}
  steps: [{delete: true}]
"""


def _other_kinds() -> tuple[Stage, ...]:
    """Return a stage of a kind that one member plays for all."""
    body = yaml.load(NAMESPACE_STAGE)
    return tuple(
        read_stages([Document(kind="Stage", api_version="", name="tell", body=body, source="own")])
    )


def test_a_member_that_joins_has_its_share_within_two_lease_durations() -> None:
    @story
    async def _(at: Sharing) -> None:
        await at.join("a")
        at.nodes(120)
        await asyncio.sleep(30)
        assert at.held() == {"a": 120}

        await at.join("b")
        await asyncio.sleep(80)
        assert all(48 <= number <= 72 for number in at.held().values())
        moved = at.holders()
        assert set(at.transitions()) == {0}  # nothing has failed

        at.cluster.writes.clear()
        await asyncio.sleep(240)
        assert at.holders() == moved
        assert at.cluster.verbs("get") == []


def test_five_members_that_follow_each_other_end_with_even_shares() -> None:
    @story
    async def _(at: Sharing) -> None:
        await at.join("a")
        at.nodes(100)
        for name in "bcde":
            await asyncio.sleep(7)
            await at.join(name)
        await asyncio.sleep(80)

        assert all(16 <= number <= 24 for number in at.held().values())
        assert sum(at.held().values()) == 100
        moved = at.holders()
        await asyncio.sleep(240)
        assert at.holders() == moved


def test_the_nodes_of_a_killed_member_are_taken_over_once_when_their_leases_have_ended() -> None:
    @story
    async def _(at: Sharing) -> None:
        members = [await at.join(name) for name in "abc"]
        at.nodes(150)
        await asyncio.sleep(100)
        before = {lease["metadata"]["name"]: lease["spec"] for lease in leases(at.cluster)}
        lost = {name for name, spec in before.items() if spec["holderIdentity"] == "b"}
        assert 40 <= len(lost) <= 60

        members[1].kill()
        at.cluster.writes.clear()
        await asyncio.sleep(29)
        assert at.held()["b"] == len(lost)
        await asyncio.sleep(13)

        assert at.held()["b"] == 0
        assert abs(at.held()["a"] - at.held()["c"]) <= 4
        for lease in leases(at.cluster):
            name, spec = lease["metadata"]["name"], lease["spec"]
            was = before[name]["leaseTransitions"]
            assert spec["leaseTransitions"] == was + (name in lost)
        assert sorted(at.cluster.verbs("get")) == sorted(lost)  # the nodes: no lease is read alone
        assert len(at.cluster.verbs("list")) <= 10


def test_the_nodes_and_the_post_of_a_killed_member_whose_clock_was_ahead_are_taken_over() -> None:
    @story
    async def _(at: Sharing) -> None:
        members = {name: await at.join(name, stages=_other_kinds()) for name in "ba"}
        at.nodes(30)
        await asyncio.sleep(60)
        assert members["b"].controller.other_kinds()
        members["b"].ahead = 3600.0
        await asyncio.sleep(60)
        assert sum(at.held().values()) == at.held()["b"] + at.held()["a"] == 30

        members["b"].kill()
        await asyncio.sleep(120)

        assert at.held() == {"a": 30}
        assert members["a"].controller.other_kinds()


@pytest.mark.parametrize("hour", [3600.0, -3600.0])
def test_a_member_whose_clock_is_set_and_set_right_again_has_its_share_again(hour: float) -> None:
    @story
    async def _(at: Sharing) -> None:
        members = [await at.join(name) for name in "ab"]
        at.nodes(30)
        await asyncio.sleep(100)

        for ahead in (hour, 0.0):
            members[1].ahead = ahead
            await asyncio.sleep(120)
            assert at.held().total() == 30

        assert min(at.held().values()) >= 12
        members[1].kill()
        await asyncio.sleep(120)
        assert at.held() == {"a": 30}


def test_the_nodes_of_a_member_that_leaves_are_taken_over_at_once() -> None:
    @story
    async def _(at: Sharing) -> None:
        members = [await at.join(name) for name in "abc"]
        at.nodes(150)
        await asyncio.sleep(100)
        lost = at.held()["b"]
        assert at.transitions() == {0: 150}

        members[1].kill()
        await members[1].membership.leave()
        await asyncio.sleep(3)

        assert at.held()["b"] == 0
        assert sum(at.held().values()) == 150
        assert at.transitions() == {0: 150 - lost, 1: lost}


def test_a_member_leaves_though_its_last_renewal_was_written_unseen() -> None:
    @story
    async def _(at: Sharing) -> None:
        members = [await at.join(name) for name in "ab"]
        members[1].kill()
        at.cluster.change(
            LEASES, "kwokctl-member-b", NODE_LEASES, spec={"leaseDurationSeconds": 16}
        )

        await members[1].membership.leave()

        assert "kwok_controller_members 1\n" in members[0].controller.metrics.text()


def test_new_nodes_are_divided_without_two_members_writing_the_same_lease() -> None:
    @story
    async def _(at: Sharing) -> None:
        for name in "abc":
            await at.join(name)
        at.nodes(90)
        await asyncio.sleep(3)

        assert sum(at.held().values()) == 90
        assert min(at.held().values()) > 20
        creates = [name for name in at.cluster.verbs("create") if name.startswith("n")]
        assert sorted(creates) == sorted(set(creates))
        await asyncio.sleep(80)
        assert set(at.held().values()) <= {*range(27, 34)}


def test_one_member_plays_other_kinds_and_the_next_one_when_it_leaves() -> None:
    @story
    async def _(at: Sharing) -> None:
        members = {name: await at.join(name, stages=_other_kinds()) for name in "bca"}
        await asyncio.sleep(20)

        def players() -> list[str]:
            return [n for n, m in members.items() if m.controller.other_kinds() and not m.is_deaf]

        assert players() == ["b"]
        members["a"].controller.kinds_changed.clear()
        members["b"].kill()
        await members["b"].membership.leave()
        await asyncio.sleep(2)
        assert players() == ["a"]
        assert members["a"].controller.kinds_changed.is_set()

        members["a"].kill()
        await asyncio.sleep(17)
        assert players() == ["c"]


def test_a_member_that_is_alone_writes_as_many_leases_as_without_sharing() -> None:
    @story
    async def _(at: Sharing) -> None:
        await at.join("a")
        at.nodes(40)
        await asyncio.sleep(10)
        at.cluster.writes.clear()
        await asyncio.sleep(100)

        renewed = [name for name in at.cluster.verbs("replace") if name.startswith("n")]
        assert 380 <= len(renewed) <= 420
        own = len(at.cluster.verbs("replace")) - len(renewed)
        assert own <= 45  # its own, and that of the other kinds
        assert at.cluster.verbs("list") == at.cluster.verbs("get") == []


def test_members_that_begin_together_have_different_shares_of_the_addresses() -> None:
    @story
    async def _(at: Sharing) -> None:
        members = [Member(at.cluster, f"m{number}") for number in range(30)]
        await asyncio.gather(*(member.membership.join() for member in members))

        found = [
            body["metadata"]["annotations"]["kwokctl.dev/pod-addresses"]
            for (_, _, name), body in at.cluster.objects.items()
            if name.startswith("kwokctl-member-")
        ]
        assert len(set(found)) == len(found) == 30


def test_pods_on_nodes_without_a_network_have_different_addresses_from_all_members() -> None:
    @story
    async def _(at: Sharing) -> None:
        for name in "abc":
            await at.join(name)
        for number in range(60):
            body = node(f"n{number}", ready=True)
            body["spec"] = {}
            at.cluster.put(NODES, body)
            for index in range(5):
                at.cluster.put(PODS, pod(f"p{number}-{index}", on=f"n{number}"))
        await asyncio.sleep(30)

        bodies = [b for (plural, _, _), b in at.cluster.objects.items() if plural == PODS.plural]
        found = [body["status"].get("podIP") for body in bodies]
        assert None not in found
        assert len(set(found)) == len(found) == 300


def test_the_lease_of_a_member_that_is_gone_is_deleted_after_a_while() -> None:
    @story
    async def _(at: Sharing) -> None:
        members = [await at.join(name) for name in "ab"]
        members[1].kill()
        await asyncio.sleep(500)
        assert at.cluster.verbs("delete") == []
        await asyncio.sleep(130)

        assert at.cluster.verbs("delete") == ["kwokctl-member-b"]


def test_a_member_that_was_away_for_longer_than_its_lease_is_one_again() -> None:
    @story
    async def _(at: Sharing) -> None:
        members = [await at.join(name) for name in "ab"]
        at.nodes(20)
        await asyncio.sleep(60)
        before = at.holders()

        def refuse(target: ObjectKey) -> None:
            if target.name == "kwokctl-member-b":
                raise ApiError("busy", status=503)

        at.cluster.before_write = refuse
        await asyncio.sleep(25)
        assert "kwok_controller_members 1\n" in members[0].controller.metrics.text()
        at.cluster.before_write = None
        await asyncio.sleep(10)

        assert "kwok_controller_members 2\n" in members[0].controller.metrics.text()
        assert at.holders() == before  # its nodes were renewed all the time


def test_leases_of_members_are_not_looked_at_while_these_live() -> None:
    @story
    async def _(at: Sharing) -> None:
        at.nodes(20)
        await at.join("a")
        await at.join("b")
        await asyncio.sleep(300)
        at.cluster.writes.clear()
        await asyncio.sleep(100)

        assert len(at.held()) == 2
        assert at.cluster.verbs("get") == []
        assert len(at.cluster.verbs("list")) <= 8  # one for each end of a Lease


def test_leases_of_a_controller_that_is_no_member_are_left_alone_as_long_as_it_renews_them() -> (
    None
):
    @story
    async def _(at: Sharing) -> None:
        stranger = Rig(cluster=at.cluster, holder="stranger")
        async with stranger.running():
            at.nodes(20)
            await asyncio.sleep(30)
            at.cluster.writes.clear()
            await at.join("a")
            await asyncio.sleep(200)

            assert at.held() == {"stranger": 20}
            assert at.transitions() == {0: 20}
            assert at.cluster.verbs("get") == []
            assert len(at.cluster.verbs("list")) <= 24
            written = [name for name in at.cluster.verbs("replace") if name.startswith("n")]
            assert 390 <= len(written) <= 410
