"""Where webhooks, policies and quotas have a say, everything goes through the API, and that is said."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from subprocess import Popen

import pytest

from kwokctl.dataplane.pacing import PARALLEL_WRITES
from kwokctl.kube.resource import PODS
from tests.support import changing
from tests.support.changing import documents
from tests.support.data_paths import data_paths
from tests.support.installed import PATIENCE, TELLING, Finished, Installed, until
from tests.support.planes import stored, until_stored

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.timeout(600, func_only=True),
]

POLICY = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: no-odd-pods}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [RESOURCES]}
  validations: [{expression: "!object.metadata.name.startsWith('odd')", message: that is odd}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: no-odd-pods}
spec: {policyName: no-odd-pods, validationActions: [Deny]}
"""
STAYING = (
    POLICY.replace("[CREATE, UPDATE]", "[DELETE]")
    .replace("RESOURCES", "pods")
    .replace("no-odd-pods", "staying")
    .replace(
        "!object.metadata.name.startsWith('odd')", "!oldObject.metadata.name.startsWith('staying')"
    )
    .replace("that is odd", "they stay")
)
WEBHOOK = """\
apiVersion: admissionregistration.k8s.io/v1
kind: KIND
metadata: {name: nobody}
webhooks:
- name: nobody.example.com
  clientConfig: {url: "https://127.0.0.1:1/"}
  failurePolicy: Ignore
  sideEffects: None
  admissionReviewVersions: [v1]
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [nodes]}]
"""
QUOTA = """\
apiVersion: v1
kind: ResourceQuota
metadata: {name: few, namespace: limited}
spec: {hard: {pods: "35"}}
"""
ON_NODES = ("--on-nodes", "type=kwok")


@pytest.fixture(scope="module")
def cluster(usual: Installed) -> Installed:
    assert said(scale(usual, "node", "--replicas", "30", "--wait")) == ["etcd"]
    return usual


@contextmanager
def there(cluster: Installed, document: str) -> Iterator[None]:
    """Let something be in the cluster for a while."""
    cluster.apply(*documents(document))
    try:
        yield
    finally:
        cluster.remove(*documents(document))


def scale(cluster: Installed, *words: str) -> Finished:
    return cluster.run(*TELLING, "scale", *words)


def said(done: Finished) -> list[str]:
    """Return the data paths that a successful command has named."""
    assert done.code == 0, done.err
    return data_paths(done.err)


def refused(cluster: Installed) -> bool:
    """Return whether the policy is enforced: it is a moment after it has come, and has gone."""
    return "that is odd" in cluster.refusal(changing.pod("odd", None, None))


def status_refused(cluster: Installed, pod: str) -> bool:
    """Tell the same of a policy on statuses."""
    words = ("pod", pod, "--subresource=status", "--dry-run=server", "-p")
    try:
        cluster.patch(*words, '{"status":{"message":"x"}}')
    except AssertionError as e:
        return "that is odd" in str(e)
    return False


def test_scale_obeys_a_validating_policy(cluster: Installed) -> None:
    odd = ("pod", "odd", "--replicas", "30", *ON_NODES)
    with there(cluster, POLICY.replace("RESOURCES", "pods")):
        fine = scale(cluster, "pod", "fine", "--replicas", "30", *ON_NODES, "--wait")
        until("it is enforced", lambda: refused(cluster))
        first, insisted = scale(cluster, *odd), scale(cluster, *odd, "--data-path", "etcd")
        nodes = scale(cluster, "node", "more", "--replicas", "30")

    assert (
        "through the API server (ValidatingAdmissionPolicy 'no-odd-pods' applies to pods)"
        in fine.err
    )
    assert said(fine) == ["api"]
    assert "that is odd" in first.err
    assert "that is odd" in insisted.err
    assert said(nodes) == ["etcd"]
    until("it is enforced no more", lambda: not refused(cluster))
    assert said(scale(cluster, *odd, "--wait")) == ["etcd"]


def test_fake_kubelets_obey_a_validating_policy(cluster: Installed) -> None:
    def log() -> str:
        return cluster.ok("logs", "kwok-controller")

    cluster.run_pod("odd-probe", {"schedulerName": "nobody"})
    before = log().count("pods are written through the API")
    with there(cluster, POLICY.replace("RESOURCES", "pods/status")):
        until(
            "kubelets know of it",
            lambda: log().count("pods are written through the API") > before,
        )
        until("it is enforced", lambda: status_refused(cluster, "odd-probe"))
        cluster.run_pod("odd")
        until("the status is refused", lambda: "that is odd" in log())

    cluster.wait_for("Ready", "pod/odd")


@pytest.mark.parametrize("kind", ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"])
def test_scale_goes_through_the_api_server_while_a_webhook_applies(
    cluster: Installed, kind: str
) -> None:
    set_name = kind[:8].lower()
    with there(cluster, WEBHOOK.replace("KIND", kind)):
        done = scale(cluster, "node", set_name, "--replicas", "30", "--wait")

    assert f"through the API server ({kind} 'nobody' applies to nodes)" in done.err
    assert said(done) == ["api"]
    assert said(scale(cluster, "node", set_name, "--replicas", "0", "--wait")) == ["etcd"]


def test_a_policy_for_pods_applies_to_pods_on_nodes_that_scale_deletes(cluster: Installed) -> None:
    assert said(scale(cluster, "node", "host", "--replicas", "30")) == ["etcd"]
    theirs = "kwok.x-k8s.io/kwokctl-scale=host"
    scale(cluster, "pod", "staying", "--replicas", "30", "--on-nodes", theirs, "--wait")
    delete = ("delete", "pod", "staying-000000", "--dry-run=server")
    with there(cluster, STAYING):
        until("it is enforced", lambda: "they stay" in cluster.run("kubectl", *delete).err)
        done = scale(cluster, "node", "host", "--replicas", "0")
        pods = len(stored(cluster, PODS, "default"))

    assert done.code == 1
    assert "they stay" in done.err
    assert pods >= 30
    until("it is enforced no more", lambda: cluster.run("kubectl", *delete).code == 0)
    assert said(scale(cluster, "node", "host", "--replicas", "0")) == ["etcd"]


def test_a_quota_is_kept_in_its_namespace(cluster: Installed) -> None:
    cluster.create(changing.namespace("limited"))
    limited = ("--namespace", "limited", *ON_NODES)
    with there(cluster, QUOTA):
        some = scale(cluster, "pod", "--replicas", "30", *limited, "--wait")
        too_many = scale(cluster, "pod", "--replicas", "60", *limited)
        elsewhere = scale(cluster, "pod", "--replicas", "30", *ON_NODES)

    assert "through the API server (the namespace 'limited' has a ResourceQuota)" in some.err
    assert too_many.code == 1
    assert "exceeded quota" in too_many.err
    assert said(elsewhere) == ["etcd"]
    assert len(cluster.objects("pods", "--namespace", "limited")) == 35


GROWING = """\
apiVersion: config.kwok.x-k8s.io/v1alpha1
kind: KwokctlResource
metadata: {name: growing}
template: |
  apiVersion: v1
  kind: ConfigMap
  metadata: {name: {{ Name }}, labels: {x: {{ Quote (repeat Index "a") }}}}
"""
MANY = 2000


@contextmanager
def paused(cluster: Installed, namespace: str) -> Iterator[Popen[str]]:
    """Let a `scale` that writes pods to etcd do nothing for a while, and then go on."""
    words = ("pod", "odd", "--replicas", str(MANY), "--namespace", namespace, "--force")
    # The API server enforces the policy of an earlier test for a moment after it was deleted.
    until("it is enforced no more", lambda: not refused(cluster))
    scaling = cluster.start("scale", *words, *ON_NODES)
    try:
        until_stored(cluster, PODS, namespace, 100, by=scaling)
        scaling.send_signal(signal.SIGSTOP)
        yield scaling
    except BaseException:
        scaling.kill()
        scaling.communicate()
        raise
    scaling.send_signal(signal.SIGCONT)


def ended(cluster: Installed, scaling: Popen[str], namespace: str, before: int) -> str:
    """See that `scale` has written nothing else to etcd; return what it said."""
    _, said = scaling.communicate(timeout=PATIENCE)
    assert before < MANY, "it was too quick to be paused"
    assert scaling.returncode == 1, said
    # What it was about to send when it was paused is sent before it can hear of anything.
    assert len(stored(cluster, PODS, namespace)) <= before + 4 * PARALLEL_WRITES
    return said


def test_what_comes_while_objects_are_copied_ends_that(cluster: Installed) -> None:
    cluster.create(changing.namespace("changing"))
    with paused(cluster, "changing") as scaling:
        cluster.apply(*documents(POLICY.replace("RESOURCES", "pods")))
        until("it is enforced", lambda: refused(cluster))
        before = len(stored(cluster, PODS, "changing"))
    said = ended(cluster, scaling, "changing", before)
    cluster.remove(*documents(POLICY.replace("RESOURCES", "pods")))

    assert (
        "through the API server (ValidatingAdmissionPolicy 'no-odd-pods' applies to pods)" in said
    )
    assert "that is odd" in said
    assert f"of {MANY:,} pods exist" in said


def test_a_quota_that_comes_while_objects_are_copied_is_kept(cluster: Installed) -> None:
    cluster.create(changing.namespace("measured"))
    with paused(cluster, "measured") as scaling:
        cluster.apply(*documents(QUOTA.replace("limited", "measured")))
        before = len(stored(cluster, PODS, "measured"))
    said = ended(cluster, scaling, "measured", before)

    assert "through the API server (the namespace 'measured' has a ResourceQuota)" in said
    assert "exceeded quota" in said


def test_a_policy_that_comes_while_scale_only_waits_changes_nothing(cluster: Installed) -> None:
    huge = """.containers[0].resources = {requests: {cpu: "1000"}}"""
    waiting = cluster.start("scale", "pod", "huge", "--replicas", "30", "--param", huge, "--wait")
    assert waiting.stderr is not None
    said = iter(waiting.stderr.readline, "")
    made = [next(line for line in said if "Waiting until 30 pods" in line)]
    with there(cluster, POLICY.replace("RESOURCES", "pods")):
        until("it is enforced", lambda: refused(cluster))
        os.kill(waiting.pid, signal.SIGINT)
        made += waiting.communicate(timeout=PATIENCE)[1].splitlines()
    cluster.ok("scale", "pod", "huge", "--replicas", "0")

    assert waiting.returncode == 128 + signal.SIGINT
    assert "30 of 30 pods exist" in "".join(made)
    assert "api" not in data_paths("".join(made))


def test_nothing_is_written_to_a_namespace_that_has_gone(cluster: Installed) -> None:
    cluster.create(changing.namespace("leaving"))
    with paused(cluster, "leaving") as scaling:
        before = len(stored(cluster, PODS, "leaving"))
        cluster.delete("namespace", "leaving")
    said = ended(cluster, scaling, "leaving", before)

    assert "the namespace 'leaving' is being deleted" in said
    assert stored(cluster, PODS, "leaving") == []


def test_objects_of_which_the_last_is_invalid_are_not_begun(cluster: Installed) -> None:
    template = cluster.folder / "growing.yaml"
    template.write_text(GROWING)

    done = cluster.run("--config", str(template), "scale", "growing", "--replicas", "90")

    assert done.code == 1
    assert "growing-000089" in done.err
    assert "must be no more than 63" in done.err
    assert "nothing was made" in done.err
    assert cluster.objects("configmaps", "-l", "kwok.x-k8s.io/kwokctl-scale=growing") == []


def test_nodes_get_no_more_pods_than_they_may_have(cluster: Installed) -> None:
    nodes = ("node", "small", "--replicas", "3", "--param", '.allocatable.pods="10"')
    labelled = (
        "kubectl",
        "label",
        "nodes",
        "-l",
        "kwok.x-k8s.io/kwokctl-scale=small",
        "size=small",
    )
    cluster.ok("scale", *nodes, "--wait")
    cluster.ok(*labelled)
    pods = ("scale", "pod", "few", "--on-nodes", "size=small", "--replicas")

    cluster.ok(*pods, "29", "--wait")
    too_many = cluster.refused(*pods, "31")
    cluster.ok(*pods, "30", "--wait")
    cluster.ok(*pods, "31", "--force", "--wait")

    assert "no room for 2 pods: 3 nodes with the labels 'size=small' can take 1 more" in too_many
