"""`fault inject`, `status`, `log` and `clear` with a real cluster: what is foreseen is what happens."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.installed import PATIENCE, Installed, end, until

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.timeout(600, func_only=True),
    pytest.mark.story,
]

MINE = """\
apiVersion: kwokctl.dev/v1alpha1
kind: FaultClass
metadata: {name: fan-failed}
spec:
  summary: A fan does not turn
  layer: node
  scope: node
  severity: degraded
  causes: [hardware]
  lifetime: latched
  clearedBy: [repair]
  cascades: [{class: fan-loud, hits: node}]
  signals:
    watcher:
    - conditions: [{type: FanProblem, reason: FanIsBroken, message: 'a fan of {{.node}} does not turn'}]
      taints: [{key: example.com/fan, effect: NoSchedule}]
---
apiVersion: kwokctl.dev/v1alpha1
kind: FaultClass
metadata: {name: fan-loud}
spec:
  summary: A fan is loud
  layer: node
  scope: node
  severity: benign
  causes: [hardware]
  lifetime: live
  clearedBy: [repair]
---
apiVersion: kwokctl.dev/v1alpha1
kind: FaultDialect
metadata: {name: watcher}
spec: {agent: a watcher of fans}
---
apiVersion: kwokctl.dev/v1alpha1
kind: FaultDialect
metadata: {name: unused}
spec: {agent: nobody}
"""


@pytest.fixture(scope="module")
def cluster(with_own_faults: Installed) -> Installed:
    with_own_faults.ok("scale", "dgx-h100", "--replicas", "24", "--wait")
    return with_own_faults


def reports(cluster: Installed, *names: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(cluster.ok("fault", "status", *names, "-o", "json"))
    return found


def lines(cluster: Installed, *words: str) -> list[dict[str, Any]]:
    return [
        json.loads(line) for line in cluster.ok("fault", "log", "-o", "json", *words).splitlines()
    ]


def showing(cluster: Installed) -> set[str]:
    """Return the nodes on which a fault is open."""
    return {
        each["metadata"]["name"]
        for each in cluster.objects("nodes")
        if "kwokctl.dev/open-faults" in each["metadata"].get("annotations", {})
    }


def test_before_the_first_fault_there_is_nothing(cluster: Installed) -> None:
    assert reports(cluster) == []
    assert lines(cluster) == []
    assert json.loads(cluster.ok("fault", "clear", "--all", "-o", "json"))["changed"] is False
    assert "there is no Fault 'x'" in cluster.refused("fault", "clear", "x")
    assert "serves no Faults yet" in cluster.refused("fault", "status", "--watch")


DEMO = ("gpu-missing", "--count", "3", "--set", "gpu=3", "--dialect", "dgx", "--seed", "42")


def test_a_dry_run_says_whom_a_fault_hits_and_makes_nothing(cluster: Installed) -> None:
    said = cluster.ok("fault", "inject", *DEMO, "--dry-run")

    assert "hits 3 units on 3 of 24 nodes" in said
    assert len(re.findall(r"node dgx-h100-\d+, GPU 3:", said)) == 3
    assert said.count("GPU 3 is missing") == 3
    assert "faults.kwokctl.dev" not in cluster.kubectl("get", "crds")


def test_a_fault_hits_what_the_dry_run_said(cluster: Installed) -> None:
    foreseen = re.findall(
        r"node (dgx-h100-\d+), GPU", cluster.ok("fault", "inject", *DEMO, "--dry-run")
    )
    done = json.loads(cluster.ok("fault", "inject", *DEMO, "--wait", "2m", "-o", "json"))

    result = done["result"]
    assert (result["phase"], result["units"], result["landed"]) == ("Landed", 3, 3)
    assert result["name"].startswith("gpu-missing-")
    assert result["seed"] == 42
    assert showing(cluster) == set(foreseen)
    (report,) = reports(cluster)
    assert (report["name"], report["parameters"], report["dialects"]) == (
        result["name"], {"gpu": 3}, ["dgx"],
    )  # fmt: skip


def test_the_log_says_what_was_injected_and_shown(cluster: Installed) -> None:
    found = lines(cluster)
    phases = {(each["phase"], each["node"], each["gpu"]) for each in found}

    for node in showing(cluster):
        assert {("injected", node, 3), ("landed", node, 3)} <= phases
    assert [each["t"] for each in found] == sorted(each["t"] for each in found)
    assert {each["dialect"] for each in found if each["phase"] == "signal"} <= {"dgx", "kubelet"}
    heading, *rows = cluster.ok("fault", "log").splitlines()
    assert heading.split()[:4] == ["T", "FAULT", "PHASE", "NODE"]
    assert len(rows) == len(found)


def test_the_same_seed_gives_the_same_log(cluster: Installed) -> None:
    first = lines(cluster)
    cluster.ok("fault", "clear", "--all", "--wait", "2m")
    assert not showing(cluster)
    assert lines(cluster) == []
    cluster.ok("fault", "inject", *DEMO, "--id", first[0]["fault"], "--wait", "2m")

    def bare(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{**each, "wall": "", "uid": ""} for each in found]

    assert bare(lines(cluster)) == bare(first)
    assert lines(cluster)[0]["uid"] != first[0]["uid"]
    cluster.ok("fault", "clear", first[0]["fault"])
    until("no node shows it", lambda: not showing(cluster))


def test_classes_and_dialects_of_the_user_become_objects_if_a_fault_needs_them(
    cluster: Installed, tmp_path: Path
) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(MINE)
    words = ("fan-failed", "--node", "dgx-h100-000002", "--dialect", "watcher", "--id", "the-fan")
    cluster.ok("--config", str(file), "fault", "inject", *words, "--wait", "2m")

    kept = [each["metadata"]["name"] for each in cluster.objects("faultclasses")]
    assert kept == ["fan-failed", "fan-loud"]
    assert [each["metadata"]["name"] for each in cluster.objects("faultdialects")] == ["watcher"]
    node = cluster.found("nodes", "dgx-h100-000002")
    (shown,) = [each for each in node["status"]["conditions"] if each["type"] == "FanProblem"]
    assert shown["message"] == "a fan of dgx-h100-000002 does not turn"
    assert [each["key"] for each in node["spec"]["taints"]] == ["example.com/fan"]
    # The cluster knows the class now, so a further fault needs no file.
    said = cluster.ok(
        "fault", "inject", "fan-failed", "--count", "1", "--dialect", "watcher", "--dry-run"
    )
    assert "conditions[FanProblem]" in said


def test_a_unit_fails_as_a_whole_where_one_of_its_nodes_is_named(cluster: Installed) -> None:
    words = ("rack-power", "--node", "dgx-h100-000005", "--seed", "7")
    said = re.search(r"hits (\d+) units", cluster.ok("fault", "inject", *words, "--dry-run"))
    assert said is not None
    assert int(said[1]) > 1
    done = json.loads(cluster.ok("fault", "inject", *words, "--wait", "2m", "-o", "json"))

    assert done["result"]["units"] == int(said[1])
    cluster.ok("fault", "clear", done["result"]["name"])


STORM = """\
apiVersion: kwokctl.dev/v1alpha1
kind: FaultSchedule
metadata: {name: night}
spec:
  horizon: 240h
  seed: 7
  processes:
  - {class: not-ready, every: {poisson: {mean: 100h}}, for: 5m}
  - {class: fan-failed, every: {trace: [{at: 3h}]}}
---
"""


def test_a_schedule_is_planned_on_the_nodes_and_nothing_is_made(
    cluster: Installed, tmp_path: Path
) -> None:
    file = tmp_path / "storm.yaml"
    file.write_text(STORM + MINE)
    before = reports(cluster)

    first, again = (cluster.ok("fault", "plan", "-f", str(file), "-o", "json") for _ in range(2))

    assert first == again
    planned = json.loads(first)
    names = {node["metadata"]["name"] for node in cluster.objects("nodes")}
    assert planned["nodes"] == len(names)
    assert {node for each in planned["faults"] for node in each["nodes"]} <= names
    assert {each["class"] for each in planned["faults"]} == {"not-ready", "fan-failed"}
    (fan,) = (each for each in planned["faults"] if each["class"] == "fan-failed")
    assert (fan["at"], fan["for"]) == (10_800.0, None)
    assert reports(cluster) == before


def test_units_of_many_nodes_are_in_the_log(cluster: Installed) -> None:
    """There are more than a status holds, so they are in a page."""
    words = ("not-ready", "--percent", "100", "--id", "many", "--wait", "2m")
    done = json.loads(cluster.ok("fault", "inject", *words, "-o", "json"))

    assert done["result"]["landed"] == 24
    found = lines(cluster, "many")
    for phase in ("injected", "signal", "landed"):
        assert len({each["node"] for each in found if each["phase"] == phase}) == 24
    cluster.ok("fault", "clear", "many", "--wait", "2m")


def test_a_name_is_given_once(cluster: Installed) -> None:
    words = ("fault", "inject", "not-ready", "--count", "1", "--id", "the-fan")

    assert "there is a Fault 'the-fan' already" in cluster.refused(*words)
    assert "did you mean 'the-fan'?" in cluster.refused("fault", "status", "the-fam")
    assert "did you mean 'the-fan'?" in cluster.refused("fault", "log", "the-fam")
    cluster.ok("fault", "clear", "the-fan", "--wait", "2m")


def test_what_cannot_be_injected_says_why(cluster: Installed) -> None:
    unknown = cluster.refused("fault", "inject", "not-ready", "--node", "dgx-h100-00002")
    assert "there is no node 'dgx-h100-00002'" in unknown
    assert "did you mean" in unknown
    assert reports(cluster) == []
    nothing = ("fault", "inject", "gpu-missing", "--percent", "100", "--where", "gpus > 8")
    assert "no node of 24 meets 'gpus > 8'" in cluster.refused(*nothing, "--dry-run")
    assert "no node of 24 meets 'gpus > 8'" in cluster.refused(*nothing, "--wait", "1m")
    (report,) = reports(cluster)
    assert report["phase"] == "Refused"
    assert "no node of 24 meets" in report["message"]
    cluster.ok("fault", "clear", "--all")


def test_a_blind_dialect_is_said(cluster: Installed) -> None:
    done = cluster.run(
        "fault", "inject", "gpu-missing", "--count", "1", "--dialect", "gke", "--id", "b"
    )

    assert done.code == 0
    assert "the dialect 'gke' is blind to 'gpu-missing'" in done.err
    cluster.ok("fault", "clear", "b", "--wait", "2m")


def test_one_that_ends_by_itself_stays_in_the_log_until_it_is_cleared(cluster: Installed) -> None:
    words = ("not-ready", "--count", "1", "--for", "2s", "--id", "short")
    cluster.ok("fault", "inject", *words)
    until("it is over", lambda: reports(cluster, "short")[0]["phase"] == "Cleared")
    until("no node shows it", lambda: not showing(cluster))

    last = lines(cluster, "short")[-1]
    assert (last["phase"], last["t"]) == ("cleared", 2.0)
    cluster.ok("fault", "clear", "short")
    assert lines(cluster) == []


def test_a_wait_that_is_too_short_leaves_the_fault(cluster: Installed) -> None:
    words = ("not-ready", "--count", "1", "--at", "1h", "--id", "late", "--wait", "1s")
    said = cluster.refused("fault", "inject", *words)

    assert "no controller has injected the fault 'late', which is due 1h after it was made" in said
    assert reports(cluster)[0]["phase"] == "Pending"
    cluster.ok("fault", "clear", "late")


def test_status_and_log_follow(cluster: Installed, tmp_path: Path) -> None:
    cluster.ok("fault", "inject", "not-ready", "--count", "1", "--id", "one", "--wait", "2m")
    following = {
        word: cluster.start("fault", *words)
        for word, words in {
            "status": ("status", "--watch", "-o", "name"),
            "log": ("log", "--follow", "-o", "json"),
        }.items()
    }
    try:
        for process in following.values():
            assert process.stdout is not None
            assert "one" in process.stdout.readline()
        cluster.ok("fault", "inject", "memory-pressure", "--count", "1", "--id", "two")
        for process in following.values():
            assert process.stdout is not None
            assert any("two" in line for line in process.stdout)
    finally:
        for process in following.values():
            end(process)
    cluster.ok("fault", "clear", "--all", "--wait", "2m")


def test_silence_is_foreseen_with_its_evictions(cluster: Installed) -> None:
    said = cluster.ok("fault", "inject", "silent", "--percent", "50", "--dry-run")

    assert "the kubelet is silent" in said
    assert "12 of 24 nodes are silent" in said
    assert "evicted are 0 after 2 min" in said


def test_a_cluster_whose_api_server_is_down_says_so(cluster: Installed) -> None:
    cluster.ok("stop", "cluster")
    for words in (
        ("status",), ("log",), ("clear", "--all"), ("inject", *DEMO), ("inject", *DEMO, "--dry-run"),
    ):  # fmt: skip
        said = cluster.refused("fault", *words, timeout=PATIENCE)
        assert "kube-apiserver does not run" in said
        assert "start cluster" in said
    missing = cluster.called("other").refused("fault", "status")
    assert "other" in missing
