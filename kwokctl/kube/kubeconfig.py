"""Kubeconfig files: made for a cluster, merged into the user's own, and taken out again.

The user's file may hold anything: whatever is not ours stays as it is. kubectl's lock is
respected, the file is replaced in one stroke, and what was written is read back.
"""

import base64
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from kwokctl.errors import BusyError, ConfigError
from kwokctl.expr import yaml
from kwokctl.host.files import write_atomic

_TABLES = {"clusters": "cluster", "users": "user", "contexts": "context"}
_LOCK_WAIT = 5.0
_POLL = 0.02

Document = dict[str, Any]


def by_paths(context: str, server: str, pki: Path, identity: str) -> str:
    """Return a kubeconfig that names the certificate files of an identity."""
    cluster = {"server": server, "certificate-authority": str(pki / "ca.crt")}
    user = {
        "client-certificate": str(pki / f"{identity}.crt"),
        "client-key": str(pki / f"{identity}.key"),
    }
    return yaml.dump(_document(context, cluster, user))


def embedded(context: str, server: str, *, ca: bytes | None, cert: bytes, key: bytes) -> str:
    """Return a kubeconfig that needs no other file; without a CA the server is not verified."""
    cluster: Document = {"server": server}
    if ca is None:
        cluster["insecure-skip-tls-verify"] = True
    else:
        cluster["certificate-authority-data"] = _base64(ca)
    user = {"client-certificate-data": _base64(cert), "client-key-data": _base64(key)}
    return yaml.dump(_document(context, cluster, user))


def merge_context(target: Path, source: Path, context: str) -> None:
    """Put the cluster, user and context called `context` from `source` into `target`, as current.

    Raises ConfigError if `target` is not a kubeconfig, and leaves it as it is.
    """
    ours = _read(source)
    with _edited(target) as document:
        for table in _TABLES:
            found = _named(ours, table, context)
            others = [entry for entry in _table(document, table, target) if not _is(entry, context)]
            document[table] = [*others, found]
        document["current-context"] = context
    written = _read(target)
    if written.get("current-context") != context or not _named(written, "contexts", context):
        raise ConfigError(
            f"'{target}' does not hold the context '{context}' although it was written",
            hint=f"another program may have changed it; use: kubectl --kubeconfig {source}",
        )


def remove_context(target: Path, context: str) -> None:
    """Take the cluster, user and context called `context` out of `target`; nothing else changes."""
    if not target.exists() or not any(
        _is(entry, context) for table in _TABLES for entry in _table(_read(target), table, target)
    ):
        return
    with _edited(target) as document:
        for table in _TABLES:
            entries = _table(document, table, target)
            document[table] = [entry for entry in entries if not _is(entry, context)]
        if document.get("current-context") == context:
            document["current-context"] = ""


def _document(context: str, cluster: Document, user: Document) -> Document:
    entries = {
        "clusters": cluster,
        "users": user,
        "contexts": {"cluster": context, "user": context},
    }
    return {
        "apiVersion": "v1",
        "kind": "Config",
        **{
            table: [{"name": context, _TABLES[table]: content}]
            for table, content in entries.items()
        },
        "current-context": context,
    }


@contextmanager
def _edited(path: Path) -> Iterator[Document]:
    """Yield a kubeconfig for changes and write it back when the block ends well."""
    # A symbolic link stays one: what it points to is replaced.
    real = path.resolve()
    with _locked(real):
        document = _read(real) if real.exists() else {"apiVersion": "v1", "kind": "Config"}
        mode = real.stat().st_mode & 0o777 if real.exists() else 0o600
        yield document
        try:
            write_atomic(real, yaml.dump(document), mode=mode)
        except OSError as e:
            raise ConfigError(
                f"'{path}' cannot be written: {e.strerror}",
                hint='choose another file with --kubeconfig, or none with --kubeconfig=""',
            ) from e


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock that kubectl holds: a file beside it that only one can create."""
    lock = path.with_name(f"{path.name}.lock")
    deadline = time.monotonic() + _LOCK_WAIT
    while not _create(lock):
        if _is_abandoned(lock):
            lock.unlink(missing_ok=True)
        elif time.monotonic() > deadline:
            raise BusyError(
                f"'{path}' is locked by another program",
                hint=f"if none is running, remove the file {lock}",
            )
        time.sleep(_POLL)
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)


def _create(lock: Path) -> bool:
    try:
        lock.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError:
        return False
    except OSError as e:
        raise ConfigError(
            f"'{lock.parent}' cannot be written: {e.strerror}",
            hint='choose another file with --kubeconfig, or none with --kubeconfig=""',
        ) from e
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(str(os.getpid()))
    return True


def _is_abandoned(lock: Path) -> bool:
    """Tell whether the lock is one of ours whose owner was killed; kubectl's are empty."""
    with suppress(OSError):
        owner = lock.read_text(encoding="ascii", errors="replace")
        return owner.isdigit() and not Path("/proc", owner).exists()
    return False


def _read(path: Path) -> Document:
    try:
        document = yaml.load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, ConfigError) as e:
        raise ConfigError(
            f"'{path}' cannot be read as a kubeconfig: {e}",
            hint="repair it, or choose another file with --kubeconfig",
        ) from e
    if document is None:
        return {"apiVersion": "v1", "kind": "Config"}
    if not isinstance(document, dict):
        raise ConfigError(f"'{path}' is not a kubeconfig", hint="choose another with --kubeconfig")
    return document


def _table(document: Document, table: str, path: Path) -> list[Any]:
    entries = document.get(table) or []
    if not isinstance(entries, list):
        raise ConfigError(f"'{path}' is not a kubeconfig: '{table}' is not a list")
    return entries


def _named(document: Document, table: str, name: str) -> Any:
    return next((entry for entry in document.get(table) or [] if _is(entry, name)), None)


def _is(entry: Any, name: str) -> bool:
    return isinstance(entry, dict) and entry.get("name") == name


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")
