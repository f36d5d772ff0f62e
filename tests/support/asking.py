"""Asks an API server as kubectl does, without ten times its processor time for the start.

A connection is kept for the next request: a TLS handshake takes both sides more than a small answer does, and tests
ask again and again until something holds.
"""

import atexit
import json
import select
import ssl
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from kwokctl.kube.kubeconfig.access import Access, load_access
from kwokctl.kube.transport.dial import tls_context

_JSON = "application/json"
_PATIENCE = 300.0
_TRIES = 10
"""Of a request that the server refuses since it is busy, as in client-go."""
_MOST_KEPT = 4
"""Connections that are kept: of the clusters that a module asks in turn."""
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
    access = _read(kubeconfig)
    answer = _asked(access, _path_of(access, asked))
    listed = answer.get("items", [answer])
    for each in listed:
        each.setdefault("apiVersion", answer["apiVersion"])
        each.setdefault("kind", answer["kind"].removesuffix("List"))
        if not asked.show_managed_fields:
            each["metadata"].pop("managedFields", None)
    return answer


def text(kubeconfig: Path, path: str) -> str:
    """Return what `kubectl get --raw` writes; AssertionError where it fails."""
    return _text(_read(kubeconfig), path)


def create(kubeconfig: Path, body: Mapping[str, Any], *, dry_run: bool = False) -> None:
    """Create an object, as `kubectl create` does with a document; a field that its kind does not have is an error."""
    namespace = body["metadata"].get("namespace", "default")
    path = path_of(kubeconfig, f"{body['apiVersion']} {body['kind']}", namespace=namespace)
    query = "fieldValidation=Strict&dryRun=All" if dry_run else "fieldValidation=Strict"
    changed(kubeconfig, "POST", f"{path}?{query}", body)


def path_of(kubeconfig: Path, kind: str, name: str = "", *, namespace: str) -> str:
    """Return the path of the objects of a kind, or of one; the namespace does not count where the kind has none.

    A kind is named as to kubectl (`pods`, `po`, `leases.coordination.k8s.io`), or as in documents (`apps/v1 Deployment`).
    """
    folder, plural, is_namespaced = _place(_read(kubeconfig), kind)
    within = ["namespaces", namespace] if is_namespaced else []
    return "/".join([folder, *within, plural, *([quote(name)] if name else [])])


def changed(
    kubeconfig: Path,
    method: str,
    path: str,
    body: Mapping[str, Any],
    content: str = _JSON,
    *,
    or_absent: bool = False,
) -> None:
    """Have an object created, changed or deleted; AssertionError if that is refused.

    `or_absent`: an object that is not there is no error.
    """
    answer, said = _patiently(_read(kubeconfig), path, _Change(method, json.dumps(body), content))
    is_absent = or_absent and answer.status == HTTPStatus.NOT_FOUND
    assert is_absent or answer.status < HTTPStatus.MULTIPLE_CHOICES, (
        f"{method} {path}: {said.decode(errors='replace')}"
    )


def _path_of(access: Access, asked: Namespace) -> str:
    # A kind as in documents has a group with a slash.
    kind, _, name = (asked.kind, "", "") if " " in asked.kind else asked.kind.partition("/")
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
            kind = each.get("responseKind", {}).get("kind", "")
            version_of = "/".join(part for part in (name, version["version"]) if part)
            names = short | {f"{plural}.{name}", f"{version_of} {kind}"}
            yield names, (path, plural, each["scope"] == "Namespaced")


@dataclass(frozen=True, slots=True)
class _Change:
    """What is sent to have something changed."""

    method: str
    body: str
    content: str


def _asked(access: Access, path: str) -> Any:
    """Return what the server has at a path."""
    return json.loads(_text(access, path))


def _text(access: Access, path: str) -> str:
    answer, body = _patiently(access, path)
    said = body.decode(errors="replace")
    assert answer.status == HTTPStatus.OK, f"GET {path}: {said}"
    return said


def _patiently(
    access: Access, path: str, change: _Change | None = None
) -> tuple[HTTPResponse, bytes]:
    """Return what is answered; a server that is too busy for it is asked again, as kubectl does."""
    answer, body = _answer(access, path, change)
    for _ in range(_TRIES):
        if answer.status != HTTPStatus.TOO_MANY_REQUESTS:
            break
        time.sleep(float(answer.headers.get("Retry-After", 1)))
        answer, body = _answer(access, path, change)
    return answer, body


def _answer(access: Access, path: str, change: _Change | None) -> tuple[HTTPResponse, bytes]:
    """Return what is answered to GET, or to a change."""
    try:
        kept = _kept.pop(access, None)
        if kept is not None and not _has_ended(kept):
            # The server may have ended, or be about to close it: what changes nothing can be asked again.
            with suppress(*(() if change else (ConnectionError, ssl.SSLError))):
                return _answer_on(kept, access, path, change)
        return _answer_on(_connection(access), access, path, change)
    except (OSError, HTTPException) as e:
        raise AssertionError(f"{path}: {e!r}") from e


def _has_ended(connection: HTTPConnection) -> bool:
    """Return whether a connection on which nothing is asked has something to read, which can only be its end."""
    if connection.sock is not None and not select.select([connection.sock], [], [], 0)[0]:
        return False
    connection.close()
    return True


def _answer_on(
    connection: HTTPConnection, access: Access, path: str, change: _Change | None
) -> tuple[HTTPResponse, bytes]:
    """Ask on a connection, and keep it if the server does; it is closed after an error."""
    headers = {
        "Accept": f"{_ACCEPTED},{_JSON}",
        "Content-Type": change.content if change else _JSON,
    }
    if access.authorization is not None:
        headers["Authorization"] = access.authorization
    whole = urlsplit(access.server).path.rstrip("/") + path
    method, body = (change.method, change.body.encode()) if change else ("GET", None)
    try:
        connection.request(method, whole, body, headers)
        answer = connection.getresponse()
        said = answer.read()
    except BaseException:
        connection.close()
        raise
    _keep(access, connection)
    return answer, said


def _keep(access: Access, connection: HTTPConnection) -> None:
    replaced = _kept.pop(access, None)
    _kept[access] = connection
    oldest = _kept.pop(next(iter(_kept))) if len(_kept) > _MOST_KEPT else None
    for each in filter(None, (replaced, oldest)):
        each.close()


@atexit.register
def _close() -> None:
    while _kept:
        _kept.popitem()[1].close()


_kept: dict[Access, HTTPConnection] = {}
"""Connections on which nothing is asked now; the one used last comes last."""


def _read(kubeconfig: Path) -> Access:
    """Return how a kubeconfig reaches its cluster."""
    changed = kubeconfig.stat()
    return _access(kubeconfig, changed.st_ino, changed.st_mtime_ns, changed.st_size)


@lru_cache(maxsize=16)
def _access(kubeconfig: Path, inode: int, changed: int, size: int) -> Access:
    """Read a kubeconfig, again once it is another file."""
    return load_access(kubeconfig)


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
