"""Objects as `kubectl get` lists them, without a program for each question: tests ask again and again."""

import http.client
import json
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from kwokctl.kube.kubeconfig.access import Access, load_access
from kwokctl.kube.resource import KNOWN, Resource
from kwokctl.kube.transport.dial import tls_context

_KNOWN = {resource.plural: resource for resource in KNOWN}
_PATIENCE = 60.0


def is_known(kind: str) -> bool:
    """Return whether the path of this kind is known; others only kubectl finds."""
    return kind in _KNOWN


def listed(kubeconfig: Path, words: Sequence[str]) -> list[dict[str, Any]]:
    """List objects; `words` are those of `kubectl get`, the kind first."""
    chosen = _words().parse_args(words)
    resource = _KNOWN[chosen.kind]
    return [
        {"apiVersion": resource.api_version, "kind": resource.kind, **_shown(each, chosen)}
        for each in _answer(load_access(kubeconfig), _path(resource, chosen))["items"]
    ]


def _words() -> ArgumentParser:
    parser = ArgumentParser(exit_on_error=False)
    parser.add_argument("kind")
    parser.add_argument("-n", "--namespace", default="default")
    parser.add_argument("-l", "--selector", default="")
    parser.add_argument("--field-selector", default="")
    parser.add_argument("--show-managed-fields", action="store_true")
    return parser


def _path(resource: Resource, chosen: Namespace) -> str:
    given = {"labelSelector": chosen.selector, "fieldSelector": chosen.field_selector}
    query = urlencode({name: text for name, text in given.items() if text})
    return f"{resource.path(chosen.namespace)}?{query}"


def _answer(access: Access, path: str) -> Any:
    parts = urlsplit(access.server)
    context = tls_context(ca=access.ca, cert=access.cert, key=access.key)
    connection = http.client.HTTPSConnection(
        str(parts.hostname), parts.port, timeout=_PATIENCE, context=context
    )
    try:
        connection.request("GET", path, headers={"Accept": "application/json"})
        answer = connection.getresponse()
        content = answer.read()
    finally:
        connection.close()
    assert answer.status == 200, f"{path}: {answer.status} {content.decode()}"
    return json.loads(content)


def _shown(found: Mapping[str, Any], chosen: Namespace) -> dict[str, Any]:
    if chosen.show_managed_fields:
        return dict(found)
    return {**found, "metadata": dict(_without(found["metadata"].items(), "managedFields"))}


def _without(items: Iterable[tuple[str, Any]], name: str) -> Iterable[tuple[str, Any]]:
    return (item for item in items if item[0] != name)
