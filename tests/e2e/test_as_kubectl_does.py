"""What tests do to objects without kubectl is what kubectl does with the same words."""

import re
from collections.abc import Callable, Iterator, Sequence
from threading import Thread
from typing import Any

import pytest

from tests.support import changing
from tests.support.changing import documents
from tests.support.installed import Installed, until

pytestmark = [pytest.mark.components, pytest.mark.e2e]

THEIRS, OURS = "by-kubectl", "by-tests"
HELD = {"finalizers": ["example.com/held"]}


@pytest.fixture
def pair(storage: Installed) -> Iterator[Installed]:
    """Have two objects that are alike: what kubectl does to the first, tests do to the second."""
    for name in (THEIRS, OURS):
        storage.create(changing.config_map(name, a="1"))
    yield storage
    storage.delete("configmaps,pods,deployments", THEIRS, OURS, "--ignore-not-found", "--force")


def seen(cluster: Installed, kind: str, name: str) -> Any:
    """Return an object without what differs between two that are alike."""
    found = cluster.found(kind, name, "--show-managed-fields")
    managers = {each["manager"] for each in found["metadata"].pop("managedFields")}
    for field in ("uid", "resourceVersion", "creationTimestamp"):
        del found["metadata"][field]
    text = re.sub(r"kube-api-access-\w+", "token", str(found))
    return text.replace(name, "NAME"), managers


WORDS: Sequence[tuple[str, Sequence[str]]] = (
    ("label", ("configmap", "NAME", "a=b", "c=d")),
    ("label", ("configmap", "NAME", "a-", "--overwrite", "c=")),
    ("annotate", ("cm", "NAME", "example.com/x={1: 2}")),
    ("annotate", ("configmap/NAME", "example.com/x-")),
    ("patch", ("configmap", "NAME", "-p", '{"data": {"a": null, "b": "2"}}')),
    ("patch", ("-n", "default", "cm/NAME", "--type=merge", "--patch", '{"data": {"b": "3"}}')),
)


def test_labels_annotations_and_patches_are_the_same(pair: Installed) -> None:
    does: dict[str, Callable[..., None]] = {
        "label": pair.label,
        "annotate": pair.annotate,
        "patch": pair.patch,
    }
    for verb, words in WORDS:
        pair.kubectl(verb, *(word.replace("NAME", THEIRS) for word in words))
        does[verb](*(word.replace("NAME", OURS) for word in words))

        assert seen(pair, "configmap", OURS) == seen(pair, "configmap", THEIRS), (verb, words)


def test_a_pod_and_a_deployment_are_those_of_kubectl(pair: Installed) -> None:
    pair.kubectl("run", THEIRS, "--image=x", '--overrides={"spec": {"nodeName": "none"}}')
    pair.run_pod(OURS, {"nodeName": "none"})
    assert seen(pair, "pods", OURS)[0] == seen(pair, "pods", THEIRS)[0]

    pair.kubectl("create", "deployment", THEIRS, "--image=x", "--replicas=2")
    pair.deploy(OURS, replicas=2, wait=False)
    assert seen(pair, "deployments", OURS)[0] == seen(pair, "deployments", THEIRS)[0]
    pair.remove(changing.deployment(OURS, replicas=2))
    assert {THEIRS, OURS} & {*pair.names("deployments")} == {THEIRS}


def test_what_is_applied_is_created_and_then_changed(pair: Installed) -> None:
    text = (
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: NAME, labels: {l: m}}\ndata: {a: '5'}\n"
    )
    words = ("apply", "--server-side", "--force-conflicts", "-f", "-")
    for name in (f"{THEIRS}-too", THEIRS):
        pair.kubectl(*words, stdin=text.replace("NAME", name))
        ours = name.replace(THEIRS, OURS)
        pair.apply(*documents(text.replace("NAME", ours)))

        assert seen(pair, "configmap", ours) == seen(pair, "configmap", name)
    pair.remove(*(changing.config_map(f"{name}-too") for name in (THEIRS, OURS)))
    assert not {f"{THEIRS}-too", f"{OURS}-too"} & {*pair.names("configmaps")}


def test_what_is_deleted_is_gone_or_is_not_waited_for(pair: Installed) -> None:
    held = changing.config_map("held")
    held["metadata"] |= HELD
    pair.create(held)
    pair.delete("configmap", "held", "--wait=false")
    assert "deletionTimestamp" in pair.found("configmap", "held")["metadata"]

    waiting = Thread(target=pair.delete, args=("configmap/held",))
    waiting.start()
    waiting.join(timeout=0.3)
    assert waiting.is_alive()
    pair.patch("configmap", "held", "-p", '{"metadata": {"finalizers": null}}')
    waiting.join()
    assert "held" not in pair.names("configmaps")

    pair.label("configmap", OURS, "which=mine")
    pair.delete("configmaps", "-l", "which=mine")
    assert {THEIRS, OURS} & {*pair.names("configmaps")} == {THEIRS}
    pair.delete("configmap", OURS, "--ignore-not-found")
    with pytest.raises(AssertionError, match=f'"{OURS}.* not found'):
        pair.delete("configmap", OURS)


def test_a_pod_that_is_forced_is_gone_without_a_kubelet(pair: Installed) -> None:
    pair.run_pod(OURS, {"nodeName": "none"})
    pair.delete("pods", OURS, "--wait=false")
    assert pair.found("pod", OURS)["metadata"]["deletionGracePeriodSeconds"] == 30
    pair.delete("pods", OURS, "--now", "--wait=false")
    assert pair.found("pod", OURS)["metadata"]["deletionGracePeriodSeconds"] == 1

    pair.delete("pods", "--all", "--force")

    until("it is gone", lambda: OURS not in pair.names("pods"))
