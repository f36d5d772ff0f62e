"""Repairs in a cluster: what starts them, what the node shows meanwhile, and which faults are over then."""

import json
import os
from itertools import pairwise
from signal import SIGKILL
from typing import Any

import pytest

from tests.support.injected import inject, phase, shows, status
from tests.support.installed import Installed, condition, until
from tests.support.repaired import (
    OWN,
    QUICK,
    ask,
    boot,
    ended,
    is_healthy,
    node,
    only_ended,
    policy,
    repairs,
    uid,
    use,
)

pytestmark = [pytest.mark.components, pytest.mark.e2e, pytest.mark.timeout(900, func_only=True)]
ASKING = "cloud.google.com/perform-maintenance"


@pytest.fixture(scope="module")
def cluster(with_repairs: Installed) -> Installed:
    with_repairs.ok("scale", "node", "--replicas", "12", "--wait")
    return with_repairs


def named(number: int) -> str:
    return f"node-{number:06}"


def test_a_cordoned_node_is_rebooted_and_its_fault_is_over_there_only(cluster: Installed) -> None:
    broken, other = named(0), named(1)
    inject(cluster, "closing", "not-ready", target={"nodes": [broken, other]})
    before = boot(cluster, broken)
    triggers = [{"action": "reboot", "cordonedFor": "1s"}]
    with policy(cluster, "cordons", triggers=triggers, actions={"reboot": QUICK}):
        cluster.kubectl("cordon", broken)
        one = only_ended(cluster, broken)
        until("the node is back", lambda: is_healthy(cluster, broken))
        cluster.kubectl("uncordon", broken)

    assert one["status"]["phase"] == "Succeeded", one
    assert (one["status"]["trigger"], one["status"]["cleared"]) == ("cordoned", ["closing"])
    assert "kubectl" in one["status"]["by"]
    assert boot(cluster, broken) != before
    assert shows(cluster, other) == {"closing"}
    assert phase(cluster, "closing") == "Landed"
    assert status(cluster, "closing")["repaired"] == 1
    header, row = cluster.kubectl("get", "fault", "closing").splitlines()
    assert row[header.index("REPAIRED") :].split()[0] == "1"
    log = [json.loads(line) for line in cluster.ok("fault", "log", "-o", "json").splitlines()]
    over = [
        each["node"] for each in log if each["phase"] == "cleared" and each["fault"] == "closing"
    ]
    assert over == [broken]
    assert all(
        not each["metadata"]["name"].startswith("repair-") for each in cluster.objects("faults")
    )
    cluster.delete("fault", "closing")


def test_a_replaced_node_is_another_one_with_the_same_name_and_labels(cluster: Installed) -> None:
    name = named(2)
    inject(cluster, "replaced", "silent", target={"nodes": [name]})
    cluster.label("node", name, "pool=a")
    before = node(cluster, name)
    use(cluster, "lost", name)
    ask(cluster, "replacing", name, "replace")
    until("the old one is gone", lambda: uid(cluster, name) != before["metadata"]["uid"])
    assert ended(cluster, "replacing")["phase"] == "Succeeded"
    until("the new one is healthy", lambda: is_healthy(cluster, name))

    after = node(cluster, name)
    assert after["metadata"]["uid"] != before["metadata"]["uid"]
    assert after["metadata"]["labels"] == before["metadata"]["labels"]
    assert after["status"]["capacity"] == before["status"]["capacity"]
    assert after["status"]["nodeInfo"]["bootID"] != before["status"]["nodeInfo"]["bootID"]
    assert "kwokctl.dev/faults" not in after["metadata"]["annotations"]
    assert not cluster.objects("pods", "-n", "default"), "they were on the machine that is gone"
    until("the fault is over", lambda: phase(cluster, "replaced") == "Cleared")
    cluster.delete("fault", "replaced")


def test_what_a_repair_does_not_end_stays_and_the_next_action_follows(cluster: Installed) -> None:
    name = named(3)
    inject(cluster, "tough", "not-ready", target={"nodes": [name]})
    never = {"odds": {"not-ready": 0}}
    actions = {"reboot": {**QUICK, **never, "ifFailed": "power-cycle"}, "power-cycle": QUICK}
    with policy(cluster, "shop", where=f'name == "{name}"', actions=actions):
        ask(cluster, "first", name, "reboot")
        first = ended(cluster, "first")
        assert first["phase"] == "Failed"
        assert (first.get("cleared", []), first["left"]) == ([], ["tough"])
        second = ended(cluster, "first.power-cycle")
        assert (second["phase"], second["cleared"]) == ("Succeeded", ["tough"])
        refused = "host-repair"
        ask(cluster, "unknown", name, refused)
        assert ended(cluster, "unknown")["phase"] == "Refused"
        assert "does not offer" in ended(cluster, "unknown")["message"]
    until("the node is back", lambda: is_healthy(cluster, name))
    cluster.delete("fault", "tough")


def test_so_many_repairs_go_on_as_there_are_slots(cluster: Installed) -> None:
    names = [named(number) for number in (4, 5, 6)]
    with policy(cluster, "one-slot", slots=1):
        for each in names:
            ask(cluster, f"slot-{each}", each, "reset-gpu", policy="one-slot")
        found = [ended(cluster, f"slot-{each}") for each in names]
    assert {each["phase"] for each in found} == {"Succeeded"}
    in_order = sorted(found, key=lambda each: str(each["startedAt"]))
    for before, after in pairwise(in_order):
        assert before["endedAt"] <= after["startedAt"]
        assert before["acceptedAt"] <= after["acceptedAt"]


def test_the_label_that_asks_for_a_repair_is_removed_when_it_is_over(cluster: Installed) -> None:
    name = named(7)
    triggers = [{"action": "host-repair", "label": {"key": ASKING}}]
    with policy(cluster, "maintenance", triggers=triggers, actions={"host-repair": QUICK}):
        cluster.label("node", name, f"{ASKING}=true")
        one = only_ended(cluster, name)
        assert one["status"]["phase"] == "Succeeded"
        assert one["status"]["trigger"] == "label"
        assert ASKING not in node(cluster, name)["metadata"]["labels"]
    until("the node is back", lambda: is_healthy(cluster, name))


def test_a_node_that_was_deleted_is_made_anew(cluster: Installed) -> None:
    name = named(8)
    before = node(cluster, name)["metadata"]
    triggers = [{"action": "replace", "nodeDeleted": True}]
    with policy(cluster, "pool", triggers=triggers, actions={"replace": QUICK}):
        until("the policy is read", lambda: cluster.found("repairpolicies", "pool"))
        # That nodes are watched by it, its first repair says: a deletion before that is not seen.
        ask(cluster, "before", named(9), "reset-gpu")
        ended(cluster, "before")
        cluster.delete("node", name, "--wait=false")
        until("there is another", lambda: uid(cluster, name) not in ("", before["uid"]))
        until("its repair is over", lambda: only_ended(cluster, name))
    until("the new one is healthy", lambda: is_healthy(cluster, name))
    assert node(cluster, name)["metadata"]["labels"] == before["labels"]


HIDING = {
    "apiVersion": OWN,
    "kind": "FaultClass",
    "metadata": {"name": "hides"},
    "spec": {
        "summary": "It shows under load only", "layer": "node", "scope": "node", "severity": "fatal",
        "causes": ["hardware"], "lifetime": "latched", "clearedBy": ["replace"], "onlyUnderLoad": True,
        "effects": {"kubelet": "not-ready"},
        "signals": {
            "kubelet": [{
                "conditions": [
                    {"type": "Ready", "status": "False", "reason": "Broken", "message": "it is broken"}
                ]
            }]
        },
    },
}  # fmt: skip


def test_a_node_that_only_looks_good_shows_its_fault_again_when_it_is_used(
    cluster: Installed,
) -> None:
    name = named(11)
    cluster.create(HIDING)
    inject(cluster, "hiding", "hides", target={"nodes": [name]})
    ask(cluster, "fooled", name, "reboot")
    found = ended(cluster, "fooled")
    assert (found["phase"], found["left"], found["asleep"]) == (
        "Succeeded",
        ["hiding"],
        ["hiding"],
    )
    until("the node looks good", lambda: is_healthy(cluster, name))
    assert phase(cluster, "hiding") == "Landed"

    use(cluster, "load", name)
    until("it shows again", lambda: shows(cluster, name) == {"hiding"})
    until("it is not repaired", lambda: not status(cluster, "hiding").get("repaired"))
    cluster.delete("pod", "load", "--force", "--grace-period=0")
    cluster.delete("fault", "hiding")


def test_a_repair_ends_once_though_its_controller_is_killed(cluster: Installed) -> None:
    name = named(1)
    inject(cluster, "lasting", "not-ready", target={"nodes": [name]})
    ask(cluster, "killed", name, "reboot", takes="8s")
    until("it has begun", lambda: cluster.found("repairs", "killed").get("status", {}).get("clock"))
    begun = cluster.found("repairs", "killed")["status"]
    os.kill(cluster.pids()["kwok-controller"], SIGKILL)
    cluster.ok("start", "cluster")
    found = ended(cluster, "killed")
    until("the node is back", lambda: is_healthy(cluster, name))
    assert (found["phase"], found["cleared"]) == ("Succeeded", ["lasting"])
    assert (found["startedAt"], found["takes"]) == (begun["startedAt"], begun["takes"])
    assert [each["metadata"]["name"] for each in repairs(cluster, name)] == ["killed"]
    cluster.delete("fault", "lasting")


def test_a_rewind_takes_a_repair_back_and_it_can_be_done_again(cluster: Installed) -> None:
    name = named(5)
    inject(cluster, "again", "not-ready", target={"nodes": [name]})
    cluster.ok("snapshot", "mark", "broken")
    ask(cluster, "rewound", name, "reboot", takes="1s")
    ended(cluster, "rewound")
    until("the fault is over", lambda: phase(cluster, "again") == "Cleared")
    until("the node is back", lambda: is_healthy(cluster, name))

    cluster.ok("snapshot", "rewind", "broken")
    until("it is broken again", lambda: shows(cluster, name) == {"again"})
    assert phase(cluster, "again") == "Landed"
    assert all(each["metadata"]["name"] != "rewound" for each in repairs(cluster, name))
    ask(cluster, "rewound", name, "reboot", takes="1s")
    assert ended(cluster, "rewound")["cleared"] == ["again"]
    until("the node is back", lambda: is_healthy(cluster, name))
    cluster.delete("fault", "again")


def test_who_may_make_repairs_writes_nothing_else_with_the_rights_of_the_controller(
    cluster: Installed,
) -> None:
    name, label = named(5), "node-role.kubernetes.io/agent"
    containers = [{"name": "a", "image": "a"}]
    cluster.run_pod("victim", {"nodeName": named(6), "containers": containers})
    until("it runs", lambda: condition(cluster.found("pods", "victim"), "Ready") == "True")
    victim = cluster.found("pods", "victim")
    asker = {"apiVersion": "v1", "kind": "Pod", "namespace": "default", "name": "victim"}
    cause = {
        "trigger": "request", "label": label,
        "request": {**asker, "uid": victim["metadata"]["uid"], "answer": True},
    }  # fmt: skip
    ask(cluster, "deputy", name, "reset-gpu", takes="1s", cause=cause)
    assert ended(cluster, "deputy")["phase"] == "Succeeded"

    assert label in node(cluster, name)["metadata"]["labels"]
    assert cluster.found("pods", "victim")["status"] == victim["status"]
    cluster.delete("pod", "victim")


def test_who_may_make_repairs_does_not_say_what_the_new_node_is_like(cluster: Installed) -> None:
    name = named(10)
    before = node(cluster, name)
    evil = {
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": "evil", "labels": {"node-role.kubernetes.io/control-plane": ""}},
    }  # fmt: skip
    forged = json.dumps({"node": evil, "slices": []})
    for id_, cause in (("forged", {"trigger": "deleted", "nodeUid": "u"}), ("honest", None)):
        spec = {"node": name, "action": "replace", "takes": "1s"}
        cluster.create(
            {
                "apiVersion": OWN, "kind": "Repair",
                "metadata": {"name": id_, "annotations": {"kwokctl.dev/replacement": forged}},
                "spec": spec if cause is None else {**spec, "cause": cause},
                "status": {"replacement": forged},
            }
        )  # fmt: skip
    assert ended(cluster, "forged")["phase"] == "Refused"
    honest = ended(cluster, "honest")
    until("the node is back", lambda: is_healthy(cluster, name))

    assert honest["phase"] == "Succeeded"
    assert "replacement" not in honest
    assert "evil" not in cluster.names("nodes")
    assert uid(cluster, name) != before["metadata"]["uid"]
    assert node(cluster, name)["metadata"]["labels"] == before["metadata"]["labels"]


def test_a_definition_that_lacks_a_field_is_named_once_and_the_repair_goes_on_with_another(
    cluster: Installed,
) -> None:
    crd, name = "customresourcedefinition", "repairs.kwokctl.dev"
    takes = "/spec/versions/0/schema/openAPIV3Schema/properties/status/properties/takes"
    known = cluster.found(crd, name)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    schema = known["properties"]["status"]["properties"]["takes"]
    log = cluster.workdir / "clusters" / cluster.name / "logs" / "kwok-controller.log"
    ask(cluster, "probe", "no-such-node", "reboot")
    until("it is refused", lambda: cluster.found("repairs", "probe").get("status"))

    def takes_field() -> bool:
        """Ask whether the API server keeps the field by now."""
        patched = {"status": {"takes": 1}}
        words = ("--type=merge", "--subresource=status", "--dry-run=server", "-o", "json")
        found = cluster.kubectl("patch", "repair", "probe", *words, "-p", json.dumps(patched))
        return "takes" in json.loads(found)["status"]

    def change(**operation: Any) -> None:
        cluster.patch(crd, name, "--type=json", "-p", json.dumps([{"path": takes, **operation}]))

    change(op="remove")
    until("the field is not kept", lambda: not takes_field())
    ask(cluster, "short", named(7), "reboot", takes="1s")
    until("the log says it", lambda: "it lacks status.takes" in log.read_text())
    ask(cluster, "other", "no-such-node", "reboot")  # another round
    until("it is refused", lambda: cluster.found("repairs", "other").get("status"))
    assert log.read_text().count("it lacks status.takes") == 1
    assert cluster.found("repairs", "short")["status"]["phase"] == "Queued"

    change(op="add", value=schema)
    assert ended(cluster, "short")["phase"] == "Succeeded"
    until("the node is back", lambda: is_healthy(cluster, named(7)))


def test_by_hand_a_node_is_repaired_and_mistakes_are_told(cluster: Installed) -> None:
    said = cluster.ok("repair", named(4), "--action", "reboot", "--takes", "1s", "--wait", "120s")
    listed = json.loads(cluster.ok("repair", "status", named(4), "-o", "json"))
    assert (listed[-1]["phase"], listed[-1]["trigger"]) == ("Succeeded", "by-hand"), said
    assert "did you mean 'node-000004'" in cluster.refused(
        "repair", "node-00004", "--action", "reboot"
    )
    mistyped = cluster.run("repair", named(4), "--action", "rebot")
    assert mistyped.code == 2
    assert "choose from: reset-gpu, reboot" in mistyped.err
    unknown = cluster.refused("repair", named(4), "--action", "reboot", "--policy", "none")
    assert "there is no RepairPolicy 'none'" in unknown
    until("the node is back", lambda: is_healthy(cluster, named(4)))


def test_what_a_node_shows_of_its_repair_has_no_time_left(cluster: Installed) -> None:
    ask(cluster, "slow", named(5), "reboot", takes="1h")

    def shown() -> list[dict[str, Any]]:
        reports = json.loads(cluster.ok("fault", "status", "-o", "json"))
        return [each for each in reports if each["name"] == "repair-slow" and each["landed"]]

    until("the node shows that it is repaired", shown)
    (report,) = shown()
    assert report["left"] == ""
    assert cluster.found("faults", "repair-slow")["status"]["left"], "what is left out is there"
    cluster.delete("repair", "slow")
    until("the node is back", lambda: is_healthy(cluster, named(5)))
