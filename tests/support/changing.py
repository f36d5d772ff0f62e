"""Changes objects as `kubectl delete`, `label`, `annotate`, `patch`, `apply`, `run` and `wait` do, without a kubectl.

Where kubectl is not what a test is about, this takes 3 ms of processor time in place of the 70 to 200 of a kubectl. The words
are kubectl's, as far as tests use them; another one is an error.
"""

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import yaml

from tests.support import asking

_PATCHES = {
    "strategic": "application/strategic-merge-patch+json",
    "merge": "application/merge-patch+json",
    "json": "application/json-patch+json",
}
_APPLY = "application/apply-patch+yaml"
_Target = tuple[str, str, str]
"""The kind, namespace and name of an object."""


def _parser(*positional: str) -> ArgumentParser:
    parser = ArgumentParser(exit_on_error=False, allow_abbrev=False)
    parser.add_argument("words", nargs="+")
    parser.add_argument("-n", "--namespace", default="default")
    parser.add_argument("-l", "--selector", default="")
    for flag in ("--all", *positional):
        parser.add_argument(flag, action="store_true")
    return parser


def _deleting() -> ArgumentParser:
    parser = _parser("--now", "--force", "--ignore-not-found")
    parser.add_argument("--grace-period", type=int)
    parser.add_argument("--wait", nargs="?", const="true", default="true")
    parser.add_argument("--cascade", default="background", type=str.capitalize)
    return parser


def _patching() -> ArgumentParser:
    parser = _parser()
    parser.add_argument("-p", "--patch", required=True)
    parser.add_argument("--type", default="strategic", choices=_PATCHES)
    parser.add_argument("--subresource", default="")
    parser.add_argument("--dry-run", choices=("none", "server"), default="none")
    return parser


_DELETE, _PATCH, _MARK = _deleting(), _patching(), _parser("--overwrite")


def delete(kubeconfig: Path, *words: str) -> Mapping[_Target, str]:
    """Have the objects deleted that words of `kubectl delete` name; return those to wait for, with their uids."""
    asked = _DELETE.parse_intermixed_args(words)
    seconds = {"gracePeriodSeconds": grace} if (grace := _grace(asked)) is not None else {}
    options = {"propagationPolicy": asked.cascade, **seconds}
    may_lack = asked.ignore_not_found or asked.all or bool(asked.selector)
    targets = list(_targets(kubeconfig, asked, asked.words))
    uids = {each: _uid(kubeconfig, each, may_lack=may_lack) for each in targets}
    for kind, namespace, name in targets:
        path = asking.path_of(kubeconfig, kind, name, namespace=namespace)
        asking.changed(kubeconfig, "DELETE", path, options, or_absent=may_lack)
    return {each: uid for each, uid in uids.items() if uid and asked.wait != "false"}


def _grace(asked: Namespace) -> int | None:
    """Return the seconds that pods have to end; None for their own."""
    if asked.now:
        return 1
    if asked.force and asked.grace_period is None:
        return 0
    grace: int | None = asked.grace_period
    # Without --force, kubectl leaves a kubelet the time to answer.
    return 1 if grace == 0 and not asked.force else grace


def remain(kubeconfig: Path, uids: Mapping[_Target, str]) -> bool:
    """Return whether one of these objects is still there; another one of the same name is not."""
    return any(_uid(kubeconfig, target, may_lack=True) == uid for target, uid in uids.items())


def _uid(kubeconfig: Path, target: _Target, *, may_lack: bool) -> str:
    """Return the uid of an object; empty if it may be absent and is."""
    kind, namespace, name = target
    try:
        found = asking.found(kubeconfig, kind, name, "-n", namespace)
    except AssertionError as e:
        if may_lack and '"reason":"NotFound"' in str(e):
            return ""
        raise
    return str(found["metadata"]["uid"])


def mark(kubeconfig: Path, field: str, *words: str) -> None:
    """Set or remove labels or annotations, as words of `kubectl label` and `annotate` say."""
    asked = _MARK.parse_intermixed_args(words)
    pairs = [each for each in asked.words[1:] if "=" in each or each.endswith("-")]
    named = [each for each in asked.words if each not in pairs]
    values = {
        key if there else key[:-1]: value if there else None
        for key, there, value in (each.partition("=") for each in pairs)
    }
    manager = {"labels": "kubectl-label", "annotations": "kubectl-annotate"}[field]
    for kind, namespace, name in _targets(kubeconfig, asked, named):
        path = asking.path_of(kubeconfig, kind, name, namespace=namespace)
        query = urlencode({"fieldManager": manager})
        body = {"metadata": {field: values}}
        asking.changed(kubeconfig, "PATCH", f"{path}?{query}", body, _PATCHES["merge"])


def patch(kubeconfig: Path, *words: str) -> None:
    """Patch an object, as words of `kubectl patch` say."""
    asked = _PATCH.parse_intermixed_args(words)
    for kind, namespace, name in _targets(kubeconfig, asked, asked.words):
        path = asking.path_of(kubeconfig, kind, name, namespace=namespace)
        below = f"/{asked.subresource}" if asked.subresource else ""
        content = _PATCHES[asked.type]
        dry = "&dryRun=All" if asked.dry_run == "server" else ""
        where = f"{path}{below}?fieldManager=kubectl-patch{dry}"
        asking.changed(kubeconfig, "PATCH", where, json.loads(asked.patch), content)


def apply(kubeconfig: Path, body: Mapping[str, Any]) -> None:
    """Create an object or change it, as `kubectl apply --server-side --force-conflicts` does with a document."""
    metadata = body["metadata"]
    namespace = metadata.get("namespace", "default")
    kind = f"{body['apiVersion']} {body['kind']}"
    path = asking.path_of(kubeconfig, kind, metadata["name"], namespace=namespace)
    query = urlencode({"fieldManager": "kubectl", "force": "true", "fieldValidation": "Strict"})
    asking.changed(kubeconfig, "PATCH", f"{path}?{query}", body, _APPLY)


def documents(text: str) -> list[dict[str, Any]]:
    """Return the objects of a text as kubectl reads it: YAML documents, and the items of lists."""
    read = [each for each in yaml.safe_load_all(text) if each]
    return [item for each in read for item in (each["items"] if each["kind"] == "List" else [each])]


def _named(kind: str, name: str, **fields: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, **fields}


def namespace(name: str) -> dict[str, Any]:
    """Return a Namespace."""
    return _named("Namespace", name)


def config_map(name: str, **data: str) -> dict[str, Any]:
    """Return a ConfigMap."""
    return _named("ConfigMap", name, **({"data": data} if data else {}))


def service_account(name: str) -> dict[str, Any]:
    """Return a ServiceAccount."""
    return _named("ServiceAccount", name)


def pod(
    name: str, spec: Mapping[str, Any] | None, labels: Mapping[str, str] | None
) -> dict[str, Any]:
    """Return the pod that `kubectl run` creates, with a spec of its own beside what is usual."""
    usual = {"containers": [{"name": name, "image": "x"}]}
    metadata = {"name": name, "labels": dict({"run": name} if labels is None else labels)}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {**usual, **(spec or {})},
    }


def deployment(name: str, replicas: int) -> dict[str, Any]:
    """Return the Deployment that `kubectl create deployment` creates."""
    labels = {"app": name}
    template = {
        "metadata": {"labels": labels},
        "spec": {"containers": [{"name": "x", "image": "x"}]},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "labels": labels},
        "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template},
    }


def is_rolled_out(found: Mapping[str, Any]) -> bool:
    """Return whether `kubectl rollout status` is content with a Deployment."""
    status, wanted = found["status"], found["spec"]["replicas"]
    is_seen = status.get("observedGeneration", 0) >= found["metadata"]["generation"]
    counts = ("replicas", "updatedReplicas", "availableReplicas")
    return is_seen and all(status.get(count, 0) == wanted for count in counts)


def has_condition(found: Mapping[str, Any], kind: str) -> bool:
    """Return whether a condition of an object is true."""
    conditions: Sequence[Mapping[str, Any]] = found.get("status", {}).get("conditions") or ()
    return any(each["type"] == kind and each["status"] == "True" for each in conditions)


def _targets(kubeconfig: Path, asked: Namespace, words: Sequence[str]) -> Iterator[_Target]:
    """Yield the objects that words of kubectl name: KIND NAME…, KIND/NAME…, or kinds of which all are meant."""
    first, *names = words
    if "/" in first and " " not in first:
        for word in words:
            kind, _, name = word.partition("/")
            yield kind, asked.namespace, name
        return
    for kind in first.split(","):
        if asked.all or asked.selector:
            selector = ("-l", asked.selector) if asked.selector else ()
            listed = asking.found(kubeconfig, kind, "-n", asked.namespace, *selector)["items"]
            names = [each["metadata"]["name"] for each in listed]
        for name in names:
            yield kind, asked.namespace, name
