"""Loads in a real cluster: what was asked for is what was made, and what was not is said."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import changing
from tests.support.changing import documents
from tests.support.installed import Installed, until

pytestmark = [pytest.mark.components, pytest.mark.e2e]

_DRAWN = """
apiVersion: kwokctl.dev/v1alpha1
kind: Load
metadata: {name: NAME}
spec:
  arrivals: {poisson: 100/s}
  count: 30
  params:
    cpu: {integer: {from: 1, to: 100}}
    seconds: {lognormal: {p50: 60, p95: 300}}
  create:
  - template: |
      apiVersion: v1
      kind: Pod
      metadata: {annotations: {drawn: "{{ .params.cpu }} {{ .params.seconds }}"}}
      spec: {containers: [{name: a, image: x}]}
"""
_CHANGES = """
apiVersion: kwokctl.dev/v1alpha1
kind: Load
metadata: {name: web}
spec:
  arrivals: {burst: {size: 4, every: 1s}}
  count: 4
  create:
  - template: |
      apiVersion: apps/v1
      kind: Deployment
      spec:
        replicas: 1
        selector: {matchLabels: {app: "{{ .name }}"}}
        template:
          metadata: {labels: {app: "{{ .name }}"}}
          spec: {containers: [{name: a, image: x}]}
---
apiVersion: kwokctl.dev/v1alpha1
kind: Load
metadata: {name: scaling}
spec:
  after: web
  waitFor: {what: deployments, selector: kwokctl.dev/load=web, count: 4}
  arrivals: {every: 10ms}
  count: 4
  scale: {target: {kind: deploy, name: "web-{{ .index }}"}, replicas: "{{ add .index 1 }}"}
---
apiVersion: kwokctl.dev/v1alpha1
kind: Load
metadata: {name: patching}
spec:
  after: scaling
  arrivals: {every: 10ms}
  count: 4
  patch:
    target: {kind: deploy, name: "web-{{ .index }}"}
    patch: 'metadata: {annotations: {patched: "{{ .index }}"}}'
---
apiVersion: kwokctl.dev/v1alpha1
kind: Load
metadata: {name: churn}
spec:
  after: patching
  arrivals: {at: [0s]}
  recreate: {target: {kind: deploy, load: web}, percent: 50}
---
apiVersion: kwokctl.dev/v1alpha1
kind: Load
metadata: {name: deleting}
spec:
  after: churn
  arrivals: {at: [0s]}
  delete: {target: {kind: deploy, load: web}}
---
apiVersion: kwokctl.dev/v1alpha1
kind: Load
metadata: {name: reading}
spec:
  arrivals: {every: 20ms}
  for: 200ms
  list: {target: {kind: pods, namespace: ""}, limit: 2}
"""
_IN_TURN = """
apiVersion: kwokctl.dev/v1alpha1
kind: Load
metadata: {name: jobs}
spec:
  arrivals: {concurrency: 2}
  count: 5
  deleteWhenDone: true
  create:
  - template: |
      apiVersion: v1
      kind: ConfigMap
      ---
      apiVersion: batch/v1
      kind: Job
      spec:
        template:
          spec:
            restartPolicy: Never
            containers: [{name: a, image: x}]
"""
_PODS = """
apiVersion: kwokctl.dev/v1alpha1
kind: Load
metadata: {name: pods}
spec:
  arrivals: {every: EVERY}
  count: COUNT
  MORE: MUCH
  create: [{template: "{apiVersion: v1, kind: Pod, spec: {containers: [{name: a, image: x}]}}"}]
"""

_DEFINITION = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
"""
_DELETING = """
apiVersion: kwokctl.dev/v1alpha1
kind: Load
metadata: {name: deleting}
spec:
  arrivals: {at: [0s]}
  delete: {target: {kind: pods, selector: SELECTOR}}
"""


@pytest.fixture(scope="module", autouse=True)
def installed(with_faults: Installed) -> Installed:
    with_faults.ok("scale", "node", "--replicas", "2", "--wait")
    return with_faults


@pytest.fixture(autouse=True)
def emptied(installed: Installed) -> Iterator[None]:
    """Leave nothing for the next test."""
    yield
    installed.ok("load", "clear")
    until(
        "what loads have made is gone", lambda: not made(installed, "pods", "deployments", "jobs")
    )


def made(installed: Installed, *kinds: str) -> list[dict[str, Any]]:
    found = (installed.objects(kind, "-A", "-l", "kwokctl.dev/load") for kind in kinds)
    return [each for objects in found for each in objects]


def write(tmp_path: Path, text: str) -> str:
    path = tmp_path / "load.yaml"
    path.write_text(text)
    return str(path)


def pods(every: str, count: int, more: str = "phase", much: str = "pods") -> str:
    text = _PODS.replace("EVERY", every).replace("COUNT", str(count))
    return text.replace("MORE", more).replace("MUCH", much)


def ran(installed: Installed, file: str, *words: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        installed.ok("load", "run", "-f", file, *words, "-o", "json")
    )
    result: dict[str, Any] = found["result"]
    return result


def drawn(installed: Installed, load: str) -> dict[str, str]:
    return {
        each["metadata"]["name"]: each["metadata"]["annotations"]["drawn"]
        for each in made(installed, "pods")
        if each["metadata"]["labels"]["kwokctl.dev/load"] == load
    }


def test_as_many_objects_are_made_as_were_asked_for_and_a_seed_makes_them_again(
    installed: Installed, tmp_path: Path
) -> None:
    one = _DRAWN.replace("NAME", "one")
    result = ran(installed, write(tmp_path, one))
    (verdict,) = result["loads"]
    assert (verdict["arrivals"], verdict["accepted"], verdict["objects"]) == (30, 30, 30)
    first = drawn(installed, "one")
    assert sorted(first) == sorted(f"one-{number}" for number in range(30))
    assert len(set(first.values())) == 30
    labels = {each["metadata"]["labels"]["kwokctl.dev/run"] for each in made(installed, "pods")}
    assert labels == {result["run"]}
    installed.ok("load", "clear")

    both = f"{_DRAWN.replace('NAME', 'other')}---{one}"
    assert [each["accepted"] for each in ran(installed, write(tmp_path, both))["loads"]] == [30, 30]
    assert drawn(installed, "one") == first
    assert not set(drawn(installed, "other").values()) & set(first.values())
    installed.ok("load", "clear")

    ran(installed, write(tmp_path, one), "--seed", "1")
    assert not set(drawn(installed, "one").values()) & set(first.values())


def test_acts_change_what_a_load_has_made_in_phases(installed: Installed, tmp_path: Path) -> None:
    verdicts = {each["load"]: each for each in ran(installed, write(tmp_path, _CHANGES))["loads"]}
    assert {name: each["accepted"] for name, each in verdicts.items()} == {
        "web": 4, "scaling": 4, "patching": 4, "churn": 1, "deleting": 1, "reading": 10,
    }  # fmt: skip
    assert verdicts["churn"]["objects"] == 2
    left = made(installed, "deployments")
    assert len(left) == 3
    for each in left:
        number = int(each["metadata"]["name"].removeprefix("web-"))
        assert each["spec"]["replicas"] == number + 1
        assert each["metadata"]["annotations"]["patched"] == str(number)
    # A Deployment of generation 1 was created again.
    assert sum(each["metadata"]["generation"] == 1 for each in left) in (1, 2)


def test_arrivals_take_turns_and_what_is_done_is_deleted(
    installed: Installed, tmp_path: Path
) -> None:
    (verdict,) = ran(installed, write(tmp_path, _IN_TURN))["loads"]
    assert (verdict["accepted"], verdict["objects"], verdict["late"]) == (5, 10, 0)
    until("all jobs are deleted", lambda: not made(installed, "jobs", "configmaps"))


def test_a_quota_refuses_arrivals_which_are_counted_by_their_reason(
    installed: Installed, tmp_path: Path
) -> None:
    installed.create(changing.namespace("small"))
    installed.kubectl("create", "quota", "few", "-n", "small", "--hard=pods=5")
    until(
        "the quota counts",
        lambda: installed.found("quota", "few", "-n", "small").get("status", {}).get("used"),
    )
    until("there is an account", lambda: installed.objects("sa", "-n", "small"))
    file = write(tmp_path, pods("1ms", 20, "namespace", "small"))
    done = installed.run("load", "run", "-f", file)
    assert done.code == 0
    assert "5 of 20 arrivals accepted, 15 refused as Forbidden" in done.err
    assert "exceeded quota: few" in done.err
    assert len(made(installed, "pods")) == 5

    bulk = installed.run(
        "load", "run", "-f", write(tmp_path, pods("1ms", 40, "namespace", "small\n  bulk: true"))
    )
    assert bulk.code == 1
    assert (
        "'spec.bulk' cannot write pods to etcd: the namespace 'small' has a ResourceQuota"
        in bulk.err
    )

    installed.ok("load", "clear", "pods")
    stopping = write(tmp_path, pods("100ms", 20, "onRefusal", "stop\n  namespace: small"))
    done = installed.run("load", "run", "-f", stopping)
    assert done.code == 1
    assert "1 refused as Forbidden" in done.err
    installed.delete("namespace", "small")


def test_late_arrivals_are_sent_and_counted_and_the_verdict_says_why(
    installed: Installed, tmp_path: Path
) -> None:
    (verdict,) = ran(installed, write(tmp_path, pods("1ms", 60, "qps", "40")))["loads"]
    assert verdict["accepted"] == 60
    assert verdict["late"] > 40
    assert verdict["problem"].endswith("its own 'qps' was slower than the load")
    assert len(made(installed, "pods")) == 60


def test_ctrl_c_ends_the_arrivals_and_says_how_to_remove_what_was_made(
    installed: Installed, tmp_path: Path
) -> None:
    installed.run_pod("mine")
    process = installed.start("load", "run", "-f", write(tmp_path, pods("50ms", 100_000)))
    until("pods were made", lambda: made(installed, "pods"))
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    (line,) = [line for line in said.splitlines() if "no more arrivals are sent" in line]
    words = line.partition("kwokctl ")[2].split()
    there = len(made(installed, "pods"))
    assert there > 0
    installed.ok(*words[words.index("load") :])
    until("what was made is gone", lambda: not made(installed, "pods"))
    assert [each["metadata"]["name"] for each in installed.objects("pods")] == ["mine"]
    installed.delete("pod", "mine")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            pods("1s", 1).replace("kind: Pod", "kind: Widget"),
            "'spec.create[0]' cannot be created: this cluster has no kind 'Widget' in 'v1'",
        ),
        (
            pods("1s", 1, "namespace", "nowhere"),
            "'spec.create' is for the namespace 'nowhere', which does not exist",
        ),
        (
            pods("1s", 1, "as", "nobody"),
            "'spec.create' needs a right that 'nobody' lacks: create pods in the namespace 'default'",
        ),
        (
            pods("1s", 1).replace("image: x", "image: {{ .params.none.image }}"),
            "'spec.create[0]' does not render: it writes '<no value>'",
        ),
        (
            pods("1s", 1, "waitFor", "{what: gadgets}"),
            "'spec.waitFor' is wrong: the cluster has no kind 'gadgets'",
        ),
        (
            pods("1s", 1, "waitFor", "{what: pods, selector: a in b}"),
            "'spec.waitFor.selector' is wrong: unable to parse requirement",
        ),
        (
            _DELETING.replace("SELECTOR", "a in b"),
            "'spec.delete.target.selector' is wrong: unable to parse requirement",
        ),
        (pods("-1s", 1), "'spec.arrivals' is wrong: 'every' is -1s, which is negative"),
        (
            pods("1s", 1, "deleteWhenDone", "true").replace("kind: Pod", "kind: ConfigMap"),
            "'spec.deleteWhenDone' waits for objects that have no end",
        ),
        (
            pods("1s", 40, "bulk", "true").replace("image: x", "image: 'x{{ .index }}'"),
            "'spec.bulk' cannot write pods to etcd: 'spec.containers[0].image' of a Pod differs",
        ),
        (
            pods("1s", 40, "bulk", "true").replace(
                "kind: Pod, spec: {containers: [{name: a, image: x}]}",
                "kind: Service, spec: {ports: [{port: 80}]}",
            ),
            "'spec.bulk' cannot write services to etcd: the API server gives each an address",
        ),
    ],
)
def test_what_is_wrong_is_one_line_with_its_place_before_anything_is_made(
    text: str, said: str, installed: Installed, tmp_path: Path
) -> None:
    good = pods("1ms", 1).replace("name: pods", "name: good")
    file = write(tmp_path, f"{good}---{text}")
    done = installed.run("load", "run", "-f", file)
    assert done.code == 1
    errors = [line for line in done.err.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1
    assert errors[0].startswith(f"error: {file}, document 2: {said}")
    assert not made(installed, "pods", "configmaps")


def test_commands_run_before_and_after_and_a_dry_run_shows_them_and_makes_nothing(
    installed: Installed, tmp_path: Path
) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    hooks = f"{{before: [touch {before}], after: [touch '{after}']}}"
    file = write(tmp_path, pods("1ms", 2, "hooks", hooks))
    shown = installed.ok("--dry-run", "load", "run", "-f", file)
    assert f"# Run: touch {before}" in shown
    assert "# Load 'pods': create, 2 arrivals in 0.001 s" in shown
    assert not before.exists()
    assert not made(installed, "pods")
    refused = installed.run("load", "run", "-f", file)
    assert refused.code == 2
    assert "--allow-hooks" in refused.err
    assert not made(installed, "pods")
    ran(installed, file, "--allow-hooks")
    assert before.exists()
    assert after.exists()
    assert len(made(installed, "pods")) == 2


def test_clear_removes_the_load_that_is_named_and_shows_before_what_it_would(
    installed: Installed, tmp_path: Path
) -> None:
    both = f"{pods('1ms', 3)}---{pods('1ms', 2).replace('name: pods', 'name: others')}"
    ran(installed, write(tmp_path, both))
    assert "# Delete: 3 pods." in installed.ok("--dry-run", "load", "clear", "pods")
    assert len(made(installed, "pods")) == 5
    assert "deleted 3 pods" in installed.run("load", "clear", "pods").err
    until("three are gone", lambda: len(made(installed, "pods")) == 2)
    assert "deleted 2 pods" in installed.run("load", "clear").err
    assert "nothing that a load has made" in installed.run("load", "clear").err


def test_a_recording_is_a_trace_from_which_objects_arrive_again(
    installed: Installed, tmp_path: Path
) -> None:
    recording, part = tmp_path / "run.yaml", tmp_path / "run.yaml.part"
    kinds = "node,pod,deployment.apps,replicaset.apps"
    process = installed.start("snapshot", "record", "--path", str(recording), "--filter", kinds)
    until("the recording has begun", lambda: part.exists() and "node-000001" in part.read_text())
    (before,) = ran(installed, write(tmp_path, pods("100ms", 3)))["loads"]
    assert before["accepted"] == 3
    installed.deploy("web", replicas=2, wait=False)
    until("all is recorded", lambda: part.read_text().count('method: "create"') == 7)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 0, said
    installed.delete("deployment", "web")
    installed.ok("load", "clear")
    until("all are gone", lambda: not installed.objects("pods"))

    text = (
        pods("1ms", 4).partition("  create:")[0].replace("every: 1ms", f"trace: {recording.name}")
    )
    verdict = ran(installed, write(tmp_path, text), "--speed", "10")["loads"][0]
    assert (verdict["accepted"], verdict["objects"], verdict["refused"]) == (4, 4, {})
    names = {each["metadata"]["name"] for each in made(installed, "pods")}
    assert names >= {"pods-0", "pods-1", "pods-2"}
    assert [each["metadata"]["name"] for each in made(installed, "deployments")] == ["web"]
    until("the controller makes the others", lambda: len(made(installed, "pods")) == 5)


def test_objects_of_any_kind_arrive_under_the_name_of_their_manager(
    installed: Installed, tmp_path: Path
) -> None:
    installed.apply(*documents(_DEFINITION))
    installed.wait_for("Established", "crd/widgets.example.com")
    text = pods("1ms", 2, "fieldManager", "me").replace(
        "{apiVersion: v1, kind: Pod, spec: {containers: [{name: a, image: x}]}}",
        "{apiVersion: example.com/v1, kind: Widget, spec: {size: 3}}",
    )
    ran(installed, write(tmp_path, text))
    widgets = installed.objects("widgets.example.com", "--show-managed-fields")
    assert [each["metadata"]["name"] for each in widgets] == ["pods-0", "pods-1"]
    assert {each["manager"] for w in widgets for each in w["metadata"]["managedFields"]} == {"me"}
    assert "deleted 2 widgets" in installed.run("load", "clear").err
    installed.delete("crd", "widgets.example.com")
