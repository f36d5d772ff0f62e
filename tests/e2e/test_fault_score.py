"""The scorecard of remediators that do known things at known times, in a real cluster.

The test notes what it does, and when, and computes from its notes what the score must say. Each time of the score must lie between the moment
before the request and the moment at which the record had it: that holds however slow the machine is.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kwokctl.expr.duration import parse_time
from kwokctl.measure.histories.history import History
from kwokctl.measure.histories.history_files import history_of
from kwokctl.measure.histories.incident_history import DoneRequest
from kwokctl.measure.scoring.incident import Incident
from kwokctl.measure.scoring.scorecard import Scorecard
from tests.support.installed import Installed, until
from tests.support.remediators import Remediator
from tests.support.score_notes import SLACK, Note, Notes, least_lateness

pytestmark = [pytest.mark.components, pytest.mark.e2e, pytest.mark.timeout(600, func_only=True)]

RIGHT, MISSED, TWICE, WRONG = (f"plain-00000{number}" for number in range(4))
FAN = """\
apiVersion: kwokctl.dev/v1alpha1
kind: FaultClass
metadata: {name: fan-failed}
spec:
  summary: A fan does not turn
  layer: node
  scope: node
  severity: fatal
  causes: [hardware]
  lifetime: latched
  clearedBy: [repair]
  signals:
    npd:
    - pollInterval: 0s
      conditions: [{type: FanProblem, reason: FanIsBroken, message: a fan does not turn}]
"""
AUDIT = """\
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
"""
PHASES = (
    "--phase=broken=self.status.conditions.exists(c, c.type == 'FanProblem' && c.status == 'True')",
    "--phase=asked=configmaps,self.data.node",
)


WARD, RASH = "ward@example.com", "rash@example.com"
"""The users in whose names nodes are cordoned, and pods are deleted."""
GUARDED = ("guarded-0", "guarded-1")


class Recorded(msgspec.Struct):
    """What was done to a cluster while it was recorded."""

    cluster: Installed
    record: Path
    medic: Remediator
    notes: Notes
    injected: dict[str, float] = {}
    refused: int = 0
    """The evictions that were refused."""

    def history(self) -> History:
        return history_of(self.record)

    def incident(self, node: str) -> Incident | None:
        found = Scorecard(self.history()).incidents
        return next((each for each in found if each.node == node), None)

    def requests(self, user: str) -> list[DoneRequest]:
        """Return what the record says of the requests of a user."""
        return [each for each in self.history().incidents.requests if each.user == user]

    def node(self, name: str) -> Any:
        """Return what the record says of a node last."""
        return self.history().fleet.node_of[name].states[-1]

    def inject(self, node: str) -> None:
        """Break a fan of a node."""
        words = ("fault", "inject", "fan-failed", "--node", node, "--id", node, "--wait", "3m")
        config = ("--config", str(self.cluster.folder / "fan.yaml"))
        self.notes.do(
            "inject",
            node,
            lambda: self.cluster.ok(*config, *words),
            lambda: "FanProblem=True" in self.node(node).conditions,
        )
        self.injected[node] = parse_time(self.cluster.found("fault", node)["status"]["injectedAt"])

    def cordon(self, node: str) -> None:
        """Cordon a node as `medic`."""
        self.notes.do(
            "cordon", node, lambda: self.medic.cordon(node), lambda: self.node(node).cordoned
        )

    def uncordon(self, node: str) -> None:
        """Take that back."""
        self.notes.do(
            "uncordon",
            node,
            lambda: self.medic.cordon(node, undo=True),
            lambda: not self.node(node).cordoned,
        )


@pytest.fixture(scope="module")
def done(installed: Installed) -> Iterator[Recorded]:
    """Record four remediators: one does all that is right, one misses its fault, one cordons twice, one a good node."""
    policy = installed.folder / "audit.yaml"
    policy.write_text(AUDIT)
    audited = ("--kube-audit-policy", str(policy), "--disable", "kube-scheduler")
    installed.ok("create", "cluster", "--etcd-fsync", "off", "--wait", *audited)
    installed.ok("scale", "node", "plain", "--replicas", "4", "--wait")
    (installed.folder / "fan.yaml").write_text(FAN)
    installed.create(pod("old", RIGHT), pod("loose", MISSED), budget())
    installed.create(*(pod(name, MISSED, app="guarded") for name in GUARDED))
    until("its pod runs", lambda: installed.found("pod", "old")["status"]["phase"] == "Running")
    until("the budget is used up", lambda: is_used_up(installed.found("pdb", "guard")))
    record = installed.folder / "run.jsonl.gz"
    installed.ok("measure", "start", "--record", str(record), *PHASES)
    medic = Remediator(installed.kubeconfig, WARD, "medic")
    recorded = Recorded(installed, record, medic, Notes())
    remedy(recorded)
    refused = be_rash(Remediator(installed.kubeconfig, RASH, "rash"))
    recorded.refused = refused
    until("the audit log was read", lambda: len(recorded.requests(RASH)) == refused + 3)
    until("all pods are gone", lambda: not {*GUARDED} & {*installed.names("pods")})
    until("a probe of the watch came back", lambda: recorded.history().incidents.lags)
    yield recorded
    installed.ok("delete", "cluster")


def remedy(recorded: Recorded) -> None:
    """Let all four act."""
    cluster, notes = recorded.cluster, recorded.notes
    for node in (RIGHT, MISSED, TWICE):
        recorded.inject(node)
    recorded.cordon(RIGHT)
    recorded.cordon(WRONG)
    recorded.cordon(TWICE)
    recorded.uncordon(TWICE)
    recorded.cordon(TWICE)
    notes.do("ask", RIGHT, lambda: cluster.create(request()), lambda: is_asked(recorded))
    drain = ("drain", RIGHT, "--force", "--ignore-daemonsets")
    notes.do("drain", RIGHT, lambda: cluster.kubectl(*drain), lambda: is_drained(recorded))
    notes.do(
        "clear",
        RIGHT,
        lambda: cluster.ok("fault", "clear", RIGHT),
        lambda: (found := recorded.incident(RIGHT)) and found.fixed is not None,
    )
    recorded.uncordon(RIGHT)


def be_rash(rash: Remediator) -> int:
    """Try to evict a pod, and delete it and two others; return how often an eviction was refused."""
    refused = [rash.evict(GUARDED[0]) for _ in range(2)]
    assert refused == [429, 429]
    rash.delete(GUARDED[0], grace=0)
    rash.delete(GUARDED[1])
    rash.delete("loose")
    return len(refused)


def is_drained(recorded: Recorded) -> bool:
    found = recorded.incident(RIGHT)
    return found is not None and found.drained is not None


def is_asked(recorded: Recorded) -> bool:
    found = recorded.incident(RIGHT)
    return found is not None and "asked" in found.phases


def request() -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "request", "namespace": "default"},
        "data": {"node": RIGHT},
    }


def pod(name: str, node: str, **labels: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "labels": labels},
        "spec": {"nodeName": node, "containers": [{"name": "x", "image": "x"}]},
    }


def budget() -> dict[str, Any]:
    """Return a budget that lets none of its pods be evicted."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "guard", "namespace": "default"},
        "spec": {"minAvailable": 2, "selector": {"matchLabels": {"app": "guarded"}}},
    }


def is_used_up(budget: Any) -> bool:
    status: dict[str, Any] = budget.get("status", {})
    return status.get("currentHealthy") == 2 and status.get("disruptionsAllowed") == 0


def score(done: Recorded, *words: str) -> Any:
    return json.loads(done.cluster.ok("fault", "score", "-o", "json", *words))


def row(done: Recorded, node: str) -> Any:
    (found,) = (each for each in score(done)["incidents"] if each["node"] == node)
    return found


def test_the_times_of_the_score_are_those_at_which_things_were_done(done: Recorded) -> None:
    found, notes = row(done, RIGHT), done.notes
    began = parse_time(found["wall"])
    assert began == pytest.approx(done.injected[RIGHT], abs=SLACK)
    for name, act in (
        ("shown", "inject"), ("acted", "cordon"), ("cordoned", "cordon"), ("drained", "drain"),
        ("fixed", "clear"), ("back", "uncordon"),
    ):  # fmt: skip
        assert notes.one(act, RIGHT).holds(began + found[name]), name
    for phase, act in (("broken", "inject"), ("asked", "ask")):
        assert notes.one(act, RIGHT).holds(began + found["phases"][phase]), phase
    assert (found["by"], found["act"], found["wasCordoned"]) == ("medic", "cordon", False)
    assert list(found["signals"]) == ["npd"]


def test_the_times_of_acts_are_late_by_what_the_watch_takes(done: Recorded) -> None:
    history = done.history()
    names = {number: node.name for number, node in history.fleet.nodes.items()}
    seen: list[tuple[Note, float]] = []
    for act in history.incidents.acts:
        for note in done.notes.of(act.act, names[act.node]):
            time = history.incidents.wall_of(act.time) / 1e9
            if note.holds(time):
                seen.append((note, time))
    acts = [each for each in done.notes.all if each.what in ("cordon", "uncordon")]
    assert [note for note, _ in seen] == acts, "each act is seen once, at its time"
    lags = [each / 1e9 for each in history.incidents.lags]
    # A busy machine delays some of them, and not all.
    assert least_lateness(seen) <= max(lags), [note.lateness(time) for note, time in seen]


def test_what_the_score_counts_is_what_was_done(done: Recorded) -> None:
    report, notes = score(done), done.notes

    assert value(report, "recall") == pytest.approx(notes.recall())
    assert value(report, "precision") == pytest.approx(notes.precision())
    assert value(report, "flapping") == notes.flapping()
    assert row(done, TWICE)["cordons"] == len(notes.of("cordon", TWICE))
    assert [row(done, MISSED)[name] for name in ("acted", "cordoned", "fixed", "back")] == [
        None
    ] * 4
    assert WRONG not in {each["node"] for each in report["incidents"]}
    assert value(report, "collateral") == 0
    assert value(score(done, "--budget", "2"), "acts_beyond_budget") == 2
    assert report["figures"]["incidents.watch_lag"]["value"]["max"] > 0


def test_the_users_who_have_acted_are_those_of_the_audit_log(done: Recorded) -> None:
    acts = detail(score(done), "acts")

    assert acts == {
        f"cordon by medic (user {WARD})": 4,
        f"uncordon by user {WARD}": 2,
        "evict by user kwok-admin": 1,
    }
    assert (row(done, RIGHT)["by"], row(done, RIGHT)["user"]) == ("medic", WARD)


def test_evictions_that_a_budget_refuses_and_pods_deleted_past_it_are_counted(
    done: Recorded,
) -> None:
    report = score(done)

    assert detail(report, "refused_evictions") == {RASH: done.refused}
    assert detail(report, "past_budgets") == {RASH: len(GUARDED)}


def detail(report: Any, name: str) -> Any:
    return report["figures"][f"incidents.{name}"]["value"]["detail"]


def value(report: Any, name: str) -> Any:
    return report["figures"][f"incidents.{name}"]["value"]["value"]


def test_the_report_of_the_run_has_the_score_in_every_form(done: Recorded) -> None:
    # A machine that is busy makes a run invalid: what is judged here does not depend on that.
    while_recording = score(done)["figures"]["incidents.recall"]
    cluster, record = done.cluster, str(done.record)
    page = done.record.with_name("run.html")

    cluster.run("measure", "stop", "--report", str(page))

    assert "Faults and reactions" in page.read_text()
    texts = (
        "incidents.recall >= 60%",
        "incidents.to_cordon.count == 2",
        "incidents.precision == 100%",
    )
    asserted = [word for text in texts for word in ("--assert", text)]
    report = json.loads(cluster.run("measure", record, "-o", "json", *asserted).out)
    assert report["figures"]["incidents.recall"] == while_recording
    assert [each["passed"] for each in report["assertions"]] == [True, True, False]
    history = done.history()
    least, most = done.notes.over_cordon(history.incidents.wall_of(history.end) / 1e9)
    assert least <= value(report, "over_cordon") <= most
    wide = cluster.ok("fault", "score", "-f", record, "-o", "wide", "--by", "class")
    assert "Group class=fan-failed" in wide
    assert "medic" in wide
