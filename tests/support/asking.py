"""Asks an API server what it has, as `kubectl get -o json` does, without ten times its processor time for the start."""

import json
import ssl
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping
from functools import lru_cache
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from kwokctl.kube.kubeconfig.access import Access, load_access
from kwokctl.kube.transport.dial import tls_context

_PATIENCE = 300.0
_TRIES = 10
"""Of a request that the server refuses since it is busy, as in client-go."""
_DISCOVERY = "apidiscovery.k8s.io;as=APIGroupDiscoveryList"
_ACCEPTED = ",".join(f"application/json;v={v};g={_DISCOVERY}" for v in ("v2", "v2beta1"))


def _words() -> ArgumentParser:
    parser = ArgumentParser(exit_on_error=False)
    parser.add_argument("kind")
    parser.add_argument("name", nargs="?")
    parser.add_argument("-n", "--namespace", default="default")
    parser.add_argument("-A", "--all-namespaces", action="store_true")
    parser.add_argument("-l", "--selector", default="")
    parser.add_argument("--field-selector", default="")
    parser.add_argument("--show-managed-fields", action="store_true")
    return parser


_WORDS = _words()


def found(kubeconfig: Path, *words: str) -> Any:
    """Return the object, or the list of objects of one kind, that words of `kubectl get` ask for.

    Raises AssertionError where kubectl fails.
    """
    asked = _WORDS.parse_args(words)
    access = load_access(kubeconfig)
    answer = _asked(access, _path_of(access, asked))
    listed = answer.get("items", [answer])
    for each in listed:
        each.setdefault("apiVersion", answer["apiVersion"])
        each.setdefault("kind", answer["kind"].removesuffix("List"))
        if not asked.show_managed_fields:
            each["metadata"].pop("managedFields", None)
    return answer


def _path_of(access: Access, asked: Namespace) -> str:
    kind, _, name = asked.kind.partition("/")
    name = name or asked.name or ""
    folder, plural, is_namespaced = _place(access, kind)
    parts = [folder, plural]
    if is_namespaced and not asked.all_namespaces:
        parts = [folder, "namespaces", asked.namespace, plural]
    selectors = {"labelSelector": asked.selector, "fieldSelector": asked.field_selector}
    query = urlencode({name: text for name, text in selectors.items() if text})
    return "/".join([*parts, *([quote(name)] if name else [])]) + (f"?{query}" if query else "")


_Place = tuple[str, str, bool]
"""The path of a version of the API, the name of a kind there, and whether its objects are in namespaces."""
_places: dict[tuple[str, bytes | None, str], _Place] = {}
"""The places that have been found, by the server, the authority of its certificate, and the name of the kind."""


def _place(access: Access, kind: str) -> _Place:
    key = (access.server, access.ca, kind)
    if key not in _places:
        for folder in ("/api", "/apis"):
            for group in _asked(access, folder)["items"]:
                for names, place in _kinds(folder, group):
                    if kind in names:
                        return _places.setdefault(key, place)
        raise AssertionError(f"the server has no kind '{kind}'")
    return _places[key]


def _kinds(folder: str, group: Mapping[str, Any]) -> Iterator[tuple[set[str], _Place]]:
    name = group["metadata"].get("name", "")
    for version in group["versions"]:
        path = "/".join(part for part in (folder, name, version["version"]) if part)
        for each in version["resources"]:
            plural = each["resource"]
            short = {plural, each.get("singularResource", ""), *each.get("shortNames", ())}
            names = short | {f"{plural}.{name}"}
            yield names, (path, plural, each["scope"] == "Namespaced")


def _asked(access: Access, path: str) -> Any:
    """Return what the server has at a path; one that is too busy for it is asked again, as kubectl does."""
    answer, body = _answer(access, path)
    for _ in range(_TRIES):
        if answer.status != HTTPStatus.TOO_MANY_REQUESTS:
            break
        time.sleep(float(answer.headers.get("Retry-After", 1)))
        answer, body = _answer(access, path)
    assert answer.status == HTTPStatus.OK, f"GET {path}: {body.decode(errors='replace')}"
    return json.loads(body)


def _answer(access: Access, path: str) -> tuple[HTTPResponse, bytes]:
    connection = _connection(access)
    headers = {"Accept": f"{_ACCEPTED},application/json"}
    if access.authorization is not None:
        headers["Authorization"] = access.authorization
    try:
        connection.request("GET", urlsplit(access.server).path.rstrip("/") + path, headers=headers)
        answer = connection.getresponse()
        return answer, answer.read()
    except (OSError, HTTPException) as e:
        raise AssertionError(f"GET {path}: {e!r}") from e
    finally:
        connection.close()


def _connection(access: Access) -> HTTPConnection:
    address = urlsplit(access.server)
    assert address.hostname is not None
    if address.scheme == "http":
        return HTTPConnection(address.hostname, address.port, timeout=_PATIENCE)
    assert access.tls_server_name is None
    context = _context(access.ca, access.cert, access.key, access.insecure)
    return HTTPSConnection(address.hostname, address.port, timeout=_PATIENCE, context=context)


@lru_cache(maxsize=16)
def _context(
    ca: bytes | None, cert: bytes | None, key: bytes | None, is_insecure: bool
) -> ssl.SSLContext:
    return tls_context(ca=ca, cert=cert, key=key, insecure=is_insecure)
