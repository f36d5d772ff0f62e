"""Writes kubeconfigs, and puts clusters into the user's own and takes them out again.

Nothing else in the user's kubeconfig changes but its comments, which are lost. `$KUBECONFIG` may
name several files, which count as one. They are changed as kubectl does it: an entry where it
stands, a new one in the first file that exists, or else in the last
(https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/).
"""

import base64
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from kwokctl.errors import ConfigError, ConflictError
from kwokctl.expr import yaml
from kwokctl.json_value import Json
from kwokctl.kube.kubeconfig.file import KubeconfigFile, editing, is_of_cluster, lies_in

Entry = Mapping[str, Json]
Files = Path | Sequence[Path]

_TABLES = {"clusters": "cluster", "users": "user", "contexts": "context"}


def by_paths(context: str, server: str, pki: Path, identity: str) -> str:
    """Return a kubeconfig that names the files of a PKI folder: `ca.crt`, `<identity>.{crt,key}`."""
    return _text(
        context,
        {"certificate-authority": str(pki / "ca.crt"), "server": server},
        {
            "client-certificate": str(pki / f"{identity}.crt"),
            "client-key": str(pki / f"{identity}.key"),
        },
    )


def by_token(context: str, server: str, ca: Path, token: str) -> str:
    """Return a kubeconfig that shows a bearer token and trusts the authority of a file."""
    cluster = {"certificate-authority": str(ca), "server": server}
    return _text(context, cluster, {"token": token})


def without_user(context: str, server: str) -> str:
    """Return a kubeconfig for a server that asks for no credentials."""
    return _text(context, {"server": server}, {})


def embedded(context: str, server: str, *, ca: bytes | None, cert: bytes, key: bytes) -> str:
    """Return a kubeconfig that needs no other file; without a CA it trusts any server."""
    trust: dict[str, Json] = {"insecure-skip-tls-verify": True}
    if ca is not None:
        trust = {"certificate-authority-data": _base64(ca)}
    return _text(
        context,
        {**trust, "server": server},
        {"client-certificate-data": _base64(cert), "client-key-data": _base64(key)},
    )


def check_mergeable(target: Files, context: str, home: Path) -> None:
    """Raise what `merge_context` would, as far as it is known before there is anything to merge.

    `home` is the folder of the cluster that is to get the context.
    """
    files = _files(target)
    files = _existing(files) or files[-1:]
    opened = [KubeconfigFile.read(path) for path in files]
    for file in opened:
        file.check_writable()
        for table in _TABLES:
            file.entries(table)
    _refuse_foreign(opened, {table: {"name": context} for table in _TABLES}, context, home)


async def merge_context(target: Files, source: Path, context: str) -> Path:
    """Put a context of the kubeconfig `source`, with its cluster and user, into the user's.

    It becomes the current one. Entries of the same names are replaced if they lead to the same
    folder as `source` or to this machine; ConflictError if they are of another cluster. Returns the
    file that has the context now. Safe to repeat; when it fails, nothing has changed.
    """
    files = _files(target)
    files = _existing(files) or files[-1:]
    read = KubeconfigFile.read(source)
    new = _entries(read, context)
    async with editing(files) as opened:
        _refuse_foreign(opened, new, context, read.folder)
        for table, entry in new.items():
            holder = next((f for f in opened if f.find(table, entry["name"])), opened[0])
            holder.put(table, entry)
        opened[0].current = context
        for file in opened:
            file.save()
        return _verified(files, new, context)


async def remove_context(
    target: Files, context: str, *, home: Path | None = None, only_into_home: bool = False
) -> bool:
    """Take a context out of the user's kubeconfig, and its cluster and user if no other context has them.

    What leads neither into the folder `home` nor to this machine was not made by kwokctl: it stays; with
    `only_into_home` so does what leads to this machine alone. Returns whether there was anything
    to remove. Safe to repeat.
    """
    async with editing(_existing(_files(target))) as files:
        names = _names(files, context)
        if not _is_ours(files, names, home):
            return False
        if only_into_home and not _leads_home(files, names, home):
            return False
        others = [_refers(c) for f in files for c in f.entries("contexts") if c["name"] != context]
        going = {t: name for t, name in names.items() if all(o.get(t) != name for o in others)}
        removed = False
        for file in files:
            for table, name in going.items():
                removed |= file.drop(table, name)
            if file.current == context:
                file.current = ""
                removed = True
            file.save()
    return removed


def current_context(target: Files) -> str:
    """Return the current context; empty if there is none."""
    files = [KubeconfigFile.read(path) for path in _existing(_files(target))]
    return next((file.current for file in files if file.current), "")


async def make_current(target: Files, candidates: Mapping[str, Path]) -> str:
    """Make a context current where none is: the first of the candidates that is there and was made by kwokctl.

    The candidates are given with the folder of their cluster. Returns the current context.
    """
    async with editing(_existing(_files(target))) as files:
        found = next((file.current for file in files if file.current), "")
        for context, home in candidates.items():
            holder = next((f for f in files if f.find("contexts", context)), None)
            if not found and holder and _leads_home(files, _names(files, context), home):
                found = holder.current = context
                holder.save()
    return found


def may_name(target: Files, context: str) -> bool:
    """Return whether a kubeconfig, even one that is garbled, may have a context of this name."""
    try:
        return any(context.encode() in path.read_bytes() for path in _existing(_files(target)))
    except OSError:
        return True


def _files(target: Files) -> list[Path]:
    files = [target] if isinstance(target, Path) else list(target)
    return list(dict.fromkeys(files))


def _existing(files: Sequence[Path]) -> list[Path]:
    return [path for path in files if path.exists()]


def _entries(source: KubeconfigFile, context: str) -> dict[str, dict[str, Json]]:
    """Return the entries that make up a context, by table."""
    found: dict[str, dict[str, Json]] = {}
    for table, name in _names([source], context).items():
        entry = source.find(table, name)
        if entry is None:
            kind = _TABLES[table]
            raise ConfigError(f"the kubeconfig '{source.path}' has no {kind} called '{name}'")
        found[table] = dict(entry)
    return found


def _names(files: Sequence[KubeconfigFile], context: str) -> dict[str, str]:
    """Return by table the name of a context and of what it refers to, by default its own."""
    entry = next((e for f in files if (e := f.find("contexts", context))), None)
    refers = _refers(entry) if entry else {}
    return {
        "clusters": refers.get("clusters") or context,
        "users": refers.get("users") or context,
        "contexts": context,
    }


def _refers(context: Entry) -> dict[str, str]:
    inner = context.get("context") or {}
    return {"clusters": str(inner.get("cluster") or ""), "users": str(inner.get("user") or "")}


def _refuse_foreign(
    files: Sequence[KubeconfigFile], new: Mapping[str, Entry], context: str, home: Path
) -> None:
    present = _names(files, context)
    names = {table: entry["name"] for table, entry in new.items()}
    if _is_ours(files, present, home) and _is_ours(files, names, home):
        return
    raise ConflictError(
        f"the context '{context}' of {_listed([f.path for f in files])} is of another cluster",
        hint="rename it with 'kubectl config rename-context', or leave the file as it is with"
        ' --kubeconfig=""',
    )


def _is_ours(files: Sequence[KubeconfigFile], names: Mapping[str, str], home: Path | None) -> bool:
    """Return whether every cluster of the name was made by kwokctl, or, if there is none, every user."""
    for table in ("clusters", "users"):
        found = list(_inner(files, table, names[table]))
        if found:
            return all(is_of_cluster(inner, folder, home) for inner, folder in found)
    return True


def _leads_home(
    files: Sequence[KubeconfigFile], names: Mapping[str, str], home: Path | None
) -> bool:
    """Return whether a cluster of the name was made for the folder `home`, wherever it is served."""
    found = _inner(files, "clusters", names["clusters"])
    return home is not None and any(lies_in(inner, folder, home) for inner, folder in found)


def _inner(files: Sequence[KubeconfigFile], table: str, name: str) -> Iterator[tuple[Entry, Path]]:
    for file in files:
        if entry := file.find(table, name):
            yield entry.get(_TABLES[table]) or {}, file.folder


def _verified(files: Sequence[Path], new: Mapping[str, Entry], context: str) -> Path:
    """Read what has been written as kubectl would: the first file that says something wins.

    Returns the file that has the context.
    """
    read = [KubeconfigFile.read(path) for path in files]
    current = next((file.current for file in read if file.current), "")
    for table, entry in new.items():
        found = next((e for f in read if (e := f.find(table, entry["name"]))), None)
        if found != entry or current != context:
            raise ConfigError(
                f"{_listed(files)} does not hold the context '{context}' although it was written",
                hint="another program may have changed it at the same time; repeat the command",
            )
    return next(file.path for file in read if file.find("contexts", context))


def _listed(files: Sequence[Path]) -> str:
    return ", ".join(f"'{path}'" for path in files)


def _text(context: str, cluster: Entry, user: Entry) -> str:
    return yaml.dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": context, "cluster": cluster}],
            "users": [{"name": context, "user": user}],
            "contexts": [{"name": context, "context": {"cluster": context, "user": context}}],
            "current-context": context,
        }
    )


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
