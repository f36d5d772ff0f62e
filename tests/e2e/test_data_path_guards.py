"""Where webhooks, policies and quotas have a say, everything goes through the API, and that is said."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.support.installed import Finished, Installed, until

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.timeout(180, func_only=True),
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
def cluster(installed: Installed) -> Iterator[Installed]:
    installed.ok("create", "cluster", "--wait", "--etcd-fsync", "off")
    assert said(scale(installed, "node", "--replicas", "30", "--wait")) == ["etcd"]
    yield installed
    installed.ok("delete", "cluster")


@contextmanager
def there(cluster: Installed, document: str) -> Iterator[None]:
    """Let something be in the cluster for a while."""
    cluster.kubectl("apply", "-f", "-", stdin=document)
    try:
        yield
    finally:
        cluster.kubectl("delete", "-f", "-", stdin=document)


def scale(cluster: Installed, *words: str) -> Finished:
    return cluster.run("scale", *words)


def said(done: Finished) -> list[str]:
    """Return the data paths that were told."""
    assert done.code == 0, done.err
    return re.findall(r"data path: (\w+) ", done.err)


def refused(cluster: Installed) -> bool:
    """Tell whether the policy is enforced: it is a moment after it has come, and has gone."""
    words = ("run", "odd", "--image=busybox", "--dry-run=server")
    return "that is odd" in cluster.run("kubectl", *words).err


def status_refused(cluster: Installed, pod: str) -> bool:
    """Tell the same of a policy on statuses."""
    words = ("patch", "pod", pod, "--subresource=status", "--dry-run=server", "-p")
    return "that is odd" in cluster.run("kubectl", *words, '{"status":{"message":"x"}}').err


def test_a_policy_is_heeded_by_those_who_scale(cluster: Installed) -> None:
    odd = ("pod", "odd", "--replicas", "30", *ON_NODES)
    with there(cluster, POLICY.replace("RESOURCES", "pods")):
        fine = scale(cluster, "pod", "fine", "--replicas", "30", *ON_NODES, "--wait")
        until("it is enforced", lambda: refused(cluster))
        first, insisted = scale(cluster, *odd), scale(cluster, *odd, "--data-path", "etcd")
        nodes = scale(cluster, "node", "more", "--replicas", "30")

    assert "api (ValidatingAdmissionPolicy 'no-odd-pods' has a say on pods)" in fine.err
    assert said(fine) == ["api"]
    assert "that is odd" in first.err
    assert "that is odd" in insisted.err
    assert said(nodes) == ["etcd"]
    until("it is enforced no more", lambda: not refused(cluster))
    assert said(scale(cluster, *odd, "--wait")) == ["etcd"]


def test_a_policy_is_heeded_by_fake_kubelets(cluster: Installed) -> None:
    def log() -> str:
        return cluster.ok("logs", "kwok-controller")

    nowhere = '{"spec":{"schedulerName":"nobody"}}'
    cluster.kubectl("run", "odd-probe", "--image=busybox", f"--overrides={nowhere}")
    before = log().count("pods are written through the API")
    with there(cluster, POLICY.replace("RESOURCES", "pods/status")):
        until(
            "kubelets know of it",
            lambda: log().count("pods are written through the API") > before,
        )
        until("it is enforced", lambda: status_refused(cluster, "odd-probe"))
        cluster.kubectl("run", "odd", "--image=busybox")
        until("the status is refused", lambda: "that is odd" in log())

    cluster.kubectl("wait", "--for=condition=Ready", "pod/odd", "--timeout=60s")


@pytest.mark.parametrize("kind", ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"])
def test_webhooks_are_asked(cluster: Installed, kind: str) -> None:
    set_name = kind[:8].lower()
    with there(cluster, WEBHOOK.replace("KIND", kind)):
        done = scale(cluster, "node", set_name, "--replicas", "30", "--wait")

    assert f"api ({kind} 'nobody' has a say on nodes)" in done.err
    assert said(done) == ["api"]
    assert said(scale(cluster, "node", set_name, "--replicas", "0", "--wait")) == ["etcd"]


def test_a_quota_is_kept_in_its_namespace(cluster: Installed) -> None:
    cluster.kubectl("create", "namespace", "limited")
    limited = ("--namespace", "limited", *ON_NODES)
    with there(cluster, QUOTA):
        some = scale(cluster, "pod", "--replicas", "30", *limited, "--wait")
        too_many = scale(cluster, "pod", "--replicas", "60", *limited)
        elsewhere = scale(cluster, "pod", "--replicas", "30", *ON_NODES)

    assert "api (the namespace 'limited' has a ResourceQuota)" in some.err
    assert too_many.code == 1
    assert "exceeded quota" in too_many.err
    assert said(elsewhere) == ["etcd"]
    assert len(cluster.objects("pods", "--namespace", "limited")) == 35
