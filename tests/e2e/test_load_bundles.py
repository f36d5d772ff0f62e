"""Arrivals of several objects, in the name of a user, and past the API server: what the cluster has, and what its audit log says."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.audit_policy import creations
from tests.support.changing import documents
from tests.support.installed import Installed, until
from tests.support.measured_runs import run_measure

pytestmark = [pytest.mark.components, pytest.mark.e2e]

_DEFINITION = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: PLURAL.GROUP}
spec:
  group: GROUP
  scope: Namespaced
  names: {plural: PLURAL, kind: KIND}
  versions:
  - name: VERSION
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
"""
_GANGS = """
apiVersion: kwokctl.dev/v1alpha1
kind: Load
metadata: {name: gangs}
spec:
  arrivals: {every: 50ms}
  count: 3
  params: {members: {choice: [3]}}
  create:
  - template: |
      apiVersion: scheduling.x-k8s.io/v1alpha1
      kind: PodGroup
      metadata: {name: "{{ .name }}"}
      spec: {minMember: {{ .params.members }}}
      {{- range $member := until (int .params.members) }}
      ---
      apiVersion: v1
      kind: Pod
      metadata:
        name: "{{ $.name }}-{{ $member }}"
        labels: {scheduling.x-k8s.io/pod-group: "{{ $.name }}"}
      spec: {containers: [{name: a, image: x}]}
      {{- end }}
      ---
      apiVersion: batch/v1
      kind: Job
      metadata: {name: "{{ .name }}"}
      spec:
        parallelism: 2
        completions: 2
        template:
          spec: {restartPolicy: Never, containers: [{name: a, image: x}]}
"""
_JOB_SETS = """
apiVersion: kwokctl.dev/v1alpha1
kind: Load
metadata: {name: sets}
spec:
  arrivals: {every: 50ms}
  count: 2
  create:
  - template: |
      apiVersion: jobset.x-k8s.io/v1alpha2
      kind: JobSet
      spec:
        replicatedJobs:
        - name: workers
          replicas: 2
          template:
            spec:
              template:
                spec: {restartPolicy: Never, containers: [{name: a, image: x}]}
"""
_AS = """
apiVersion: kwokctl.dev/v1alpha1
kind: Load
metadata: {name: hers}
spec:
  arrivals: {every: 10ms}
  count: 3
  as: alice
  asGroups: [makers]
  fieldManager: portal
  create: [{template: "{apiVersion: v1, kind: ConfigMap, data: {a: b}}"}]
"""
_BULK = """
apiVersion: kwokctl.dev/v1alpha1
kind: Load
metadata: {name: bulk}
spec:
  arrivals: {burst: {size: 25, every: 1s}}
  count: 50
  bulk: true
  params: {seconds: {integer: {from: 1, to: 1000000}}}
  create:
  - template: |
      apiVersion: v1
      kind: Pod
      metadata:
        labels: {group: "of-{{ .name }}"}
        annotations: {kwokctl.dev/program: "run={{ .params.seconds }}s"}
      spec:
        containers: [{name: a, image: x, resources: {limits: {cpu: 1m}}}]
      ---
      apiVersion: batch/v1
      kind: Job
      metadata: {name: "{{ .name }}"}
      spec:
        template:
          metadata: {annotations: {seconds: "{{ .params.seconds }}"}}
          spec: {restartPolicy: Never, containers: [{name: a, image: x}]}
"""
_GROUPS = "podgroups.scheduling.x-k8s.io"
_SETS = "jobsets.jobset.x-k8s.io"
_KINDS = (_GROUPS, _SETS, "pods", "jobs", "configmaps")


@pytest.fixture(scope="module")
def installed(audited_by_etcd: Installed) -> Installed:
    """Two nodes, and two kinds that gangs are made with."""
    audited_by_etcd.ok("scale", "node", "--replicas", "2", "--wait")
    define(audited_by_etcd, _GROUPS, "PodGroup", "v1alpha1")
    define(audited_by_etcd, _SETS, "JobSet", "v1alpha2")
    return audited_by_etcd


def define(installed: Installed, name: str, kind: str, version: str) -> None:
    plural, _, group = name.partition(".")
    words = {"PLURAL": plural, "GROUP": group, "KIND": kind, "VERSION": version}
    text = _DEFINITION
    for word, value in words.items():
        text = text.replace(word, value)
    installed.apply(*documents(text))
    installed.wait_for("Established", f"crd/{name}")


@pytest.fixture(autouse=True)
def emptied(installed: Installed) -> Iterator[None]:
    """Leave nothing for the next test."""
    yield
    installed.ok("load", "clear")
    until("what loads have made is gone", lambda: not made(installed, *_KINDS))


def made(installed: Installed, *kinds: str) -> list[dict[str, Any]]:
    """Return the objects of kinds that have the labels of a load, with their kind."""
    return [
        {**each, "kind": kind}
        for kind in kinds
        for each in installed.objects(kind, "-A", "-l", "kwokctl.dev/load", "--show-managed-fields")
    ]


def ran(installed: Installed, folder: Path, text: str) -> dict[str, Any]:
    (folder / "load.yaml").write_text(text)
    done = installed.ok("load", "run", "-f", str(folder / "load.yaml"), "-o", "json")
    result: dict[str, Any] = json.loads(done)["result"]
    return result


def created(installed: Installed, plural: str, name: str) -> list[dict[str, Any]]:
    """Return what the audit log says of the creation of objects whose names begin so."""
    return [
        each
        for each in creations(installed, plural)
        if each["objectRef"].get("name", "").startswith(name)
    ]


def test_all_objects_of_a_gang_have_the_labels_and_are_removed_together(
    installed: Installed, tmp_path: Path
) -> None:
    result = ran(installed, tmp_path, _GANGS)
    (verdict,) = result["loads"]
    assert (verdict["accepted"], verdict["objects"]) == (3, 15)
    until("the Jobs have pods", lambda: len(made(installed, "pods")) == 15)
    objects = made(installed, _GROUPS, "pods", "jobs")
    assert Counter(each["kind"] for each in objects) == {_GROUPS: 3, "pods": 15, "jobs": 3}
    labels = [each["metadata"]["labels"] for each in objects]
    assert {each["kwokctl.dev/run"] for each in labels} == {result["run"]}
    assert {each["kwokctl.dev/load"] for each in labels} == {"gangs"}
    members = Counter(each.get("scheduling.x-k8s.io/pod-group", "") for each in labels)
    assert members == {"gangs-0": 3, "gangs-1": 3, "gangs-2": 3, "": 12}
    groups = [each for each in objects if each["kind"] == _GROUPS]
    assert {each["spec"]["minMember"] for each in groups} == {3}

    said = installed.run("load", "clear", "gangs").err
    assert "deleted 3 jobs, 3 podgroups, 9 pods" in said
    until("all is gone", lambda: not made(installed, *_KINDS))


def test_the_jobs_and_pods_that_a_job_set_will_have_get_the_labels(
    installed: Installed, tmp_path: Path
) -> None:
    result = ran(installed, tmp_path, _JOB_SETS)
    assert result["loads"][0]["objects"] == 2
    sets = made(installed, _SETS)
    assert [each["metadata"]["name"] for each in sets] == ["sets-0", "sets-1"]
    wanted = {"kwokctl.dev/load": "sets", "kwokctl.dev/run": result["run"]}
    for each in sets:
        job = each["spec"]["replicatedJobs"][0]["template"]
        pod = job["spec"]["template"]
        found = [level["metadata"]["labels"] for level in (each, job, pod)]
        assert found == [wanted, wanted, wanted]
    assert "deleted 2 jobsets" in installed.run("load", "clear").err


def test_a_load_in_the_name_of_a_user_needs_its_rights_and_shows_its_name(
    installed: Installed, tmp_path: Path
) -> None:
    (tmp_path / "load.yaml").write_text(_AS)
    done = installed.run("load", "run", "-f", str(tmp_path / "load.yaml"))
    assert done.code == 1
    (error,) = [line for line in done.err.splitlines() if line.startswith("error: ")]
    lacking = "a right that 'alice' lacks: create configmaps in the namespace 'default'"
    assert error.endswith(f"document 1: 'spec.create' needs {lacking}")
    assert not made(installed, "configmaps")

    # The right is that of one of her groups.
    words = ("--verb=create", "--resource=configmaps")
    installed.kubectl("create", "role", "making", *words)
    installed.kubectl("create", "rolebinding", "making", "--role=making", "--group=makers")
    (verdict,) = ran(installed, tmp_path, _AS)["loads"]
    assert (verdict["accepted"], verdict["refused"]) == (3, {})
    found = made(installed, "configmaps")
    assert [[m["manager"] for m in each["metadata"]["managedFields"]] for each in found] == [
        ["portal"], ["portal"], ["portal"],
    ]  # fmt: skip
    events = created(installed, "configmaps", "hers-")
    assert [each["impersonatedUser"]["username"] for each in events] == ["alice"] * 3
    assert all("makers" in each["impersonatedUser"]["groups"] for each in events)


def test_a_bulk_load_is_written_past_the_api_server_and_says_so(
    installed: Installed, tmp_path: Path
) -> None:
    (verdict,) = ran(installed, tmp_path, _BULK)["loads"]
    counts = {key: verdict[key] for key in ("arrivals", "accepted", "objects", "pastApi")}
    assert counts == {"arrivals": 50, "accepted": 50, "objects": 100, "pastApi": 96}
    # Only the first two went through the API server, as its audit log shows.
    for plural in ("pods", "jobs"):
        names = [each["objectRef"]["name"] for each in created(installed, plural, "bulk-")]
        own = [name for name in names if name.count("-") == 1]
        assert own == ["bulk-0", "bulk-1"]

    # What is there is what each arrival asked for, and not what the first did.
    jobs = {each["metadata"]["name"]: each for each in made(installed, "jobs")}
    pods = {each["metadata"]["name"]: each for each in made(installed, "pods")}
    wanted = {f"bulk-{number}" for number in range(50)}
    assert set(jobs) == wanted
    assert wanted <= set(pods)
    texts = set()
    for name in wanted:
        pod, job = pods[name], jobs[name]
        seconds = job["spec"]["template"]["metadata"]["annotations"]["seconds"]
        texts.add(seconds)
        assert pod["metadata"]["annotations"]["kwokctl.dev/program"] == f"run={seconds}s"
        assert pod["metadata"]["labels"]["group"] == f"of-{name}"
        assert pod["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "1m"}
        uid = job["metadata"]["uid"]
        assert job["spec"]["selector"]["matchLabels"]["batch.kubernetes.io/controller-uid"] == uid
    assert len(texts) > 40
    assert len({each["metadata"]["uid"] for each in (*pods.values(), *jobs.values())}) >= 100

    # They live on as any others: they are scheduled, run, and can be changed.
    until("every Job has a pod", lambda: len(made(installed, "pods")) == 100)
    until(
        "pods run", lambda: all(p["status"]["phase"] != "Pending" for p in made(installed, "pods"))
    )
    installed.label("pod", "bulk-49", "changed=yes")
    record = ("--record", str(tmp_path / "record.gz"))
    installed.ok("load", "clear")
    until("all is gone", lambda: not made(installed, "pods", "jobs"))
    done = run_measure(installed, "--load", str(tmp_path / "load.yaml"), *record, "-o", "json").out
    assert json.loads(done)["conditions"]["written past the API server"] == "bulk"
