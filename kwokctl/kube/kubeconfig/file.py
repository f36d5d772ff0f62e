"""Reads a kubeconfig file, changes its entries, and replaces it; recognises entries of kwokctl."""

import contextlib
import copy
import ipaddress
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from errno import EACCES
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from kwokctl.errors import ConfigError, KwokctlError
from kwokctl.expr import yaml
from kwokctl.host.files import write_atomic
from kwokctl.json_value import Json
from kwokctl.kube.kubeconfig.lock import locked

Entry = dict[str, Json]

_ANOTHER = 'choose another file with --kubeconfig, or none with --kubeconfig=""'
_EMPTY = {"apiVersion": "v1", "kind": "Config"}
_FILES = ("certificate-authority", "client-certificate", "client-key")


class KubeconfigFile:
    """The content of a kubeconfig file, including what kwokctl does not use."""

    def __init__(self, path: Path, document: Entry, *, existed: bool) -> None:
        """Hold the document of a file that `read` has read."""
        self.path = path
        self.existed = existed
        self._document = document
        self._before = copy.deepcopy(document)

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a file; one that is absent or empty has no entries.

        Raises ConfigError if it is no kubeconfig.
        """
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return cls(path, dict(_EMPTY), existed=False)
        except (OSError, UnicodeDecodeError) as e:
            why = (e.strerror if isinstance(e, OSError) else None) or "it is not text"
            raise ConfigError(
                f"the kubeconfig '{path}' cannot be read: {why}", hint=_ANOTHER
            ) from e
        try:
            document = yaml.load(text)
        except KwokctlError as e:
            raise ConfigError(
                f"the kubeconfig '{path}' is not YAML",
                hint=f"repair it, or {_ANOTHER}",
                detail=str(e),
            ) from e
        if document is None:
            document = dict(_EMPTY)
        if not isinstance(document, dict):
            raise ConfigError(f"'{path}' is not a kubeconfig: it holds no mapping", hint=_ANOTHER)
        return cls(path, document, existed=True)

    @property
    def folder(self) -> Path:
        """The folder that relative names in the file start from."""
        return self.path.absolute().parent

    @property
    def current(self) -> str:
        """The name of the current context; empty if there is none."""
        return str(self._document.get("current-context") or "")

    @current.setter
    def current(self, name: str) -> None:
        self._document["current-context"] = name

    def entries(self, table: str) -> list[Entry]:
        """Return the entries of `clusters`, `users` or `contexts`, to be changed in place."""
        found = self._document.get(table)
        if found is None:
            # kubectl itself writes null for an empty table
            found = self._document[table] = []
        if not isinstance(found, list) or not all(
            isinstance(each, dict) and isinstance(each.get("name"), str) for each in found
        ):
            raise ConfigError(
                f"'{table}' of the kubeconfig '{self.path}' is not a list of entries",
                hint=f"repair it, or {_ANOTHER}",
            )
        return found

    def find(self, table: str, name: str) -> Entry | None:
        """Return the entry of a name; of several the first, which is the one that counts."""
        return next((each for each in self.entries(table) if each["name"] == name), None)

    def put(self, table: str, entry: Mapping[str, Json]) -> None:
        """Add an entry or replace the one of its name in place."""
        entries = self.entries(table)
        for index, each in enumerate(entries):
            if each["name"] == entry["name"]:
                entries[index] = dict(entry)
                return
        entries.append(dict(entry))

    def drop(self, table: str, name: str) -> bool:
        """Remove the entries of a name; return whether there were any."""
        entries = self.entries(table)
        kept = [each for each in entries if each["name"] != name]
        self._document[table] = kept
        return len(kept) < len(entries)

    def check_writable(self) -> None:
        """Raise ConfigError if `save` could not write; nothing is made."""
        folder = Path(os.path.realpath(self.path)).parent
        there = next(each for each in (folder, *folder.parents) if each.exists())
        if not os.access(there, os.W_OK | os.X_OK):
            raise _unwritable(self.path, PermissionError(EACCES, f"'{there}' is not writable"))

    def save(self) -> None:
        """Replace the file if anything has changed; its mode, owner and links stay as they are."""
        if _meaning(self._document) == _meaning(self._before):
            return
        real = Path(os.path.realpath(self.path))
        mode, owner = 0o600, None
        with contextlib.suppress(FileNotFoundError):
            status = real.stat()
            mode, owner = status.st_mode & 0o777, (status.st_uid, status.st_gid)
        try:
            write_atomic(real, yaml.dump(self._document), mode=mode, owner=owner)
        except OSError as e:
            raise _unwritable(self.path, e) from e


@contextlib.asynccontextmanager
async def editing(paths: Sequence[Path]) -> AsyncIterator[list[KubeconfigFile]]:
    """Read files and keep others from changing them until they have been saved."""
    async with contextlib.AsyncExitStack() as stack:
        for path in sorted(paths):
            try:
                _make_folder(path.parent)
                await stack.enter_async_context(locked(path))
            except OSError as e:
                raise _unwritable(path, e) from e
        yield [KubeconfigFile.read(path) for path in paths]


def _unwritable(path: Path, error: OSError) -> ConfigError:
    return ConfigError(
        f"the kubeconfig '{path}' cannot be written: {error.strerror}",
        hint=_ANOTHER,
    )


def _make_folder(folder: Path) -> None:
    """Make `~/.kube` if need be; only its owner may look into it."""
    if not folder.exists():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def _meaning(document: Mapping[str, Json]) -> dict[str, Json]:
    """Return a document without the keys that are empty."""
    return {key: value for key, value in document.items() if value not in (None, [], "")}


def is_of_cluster(entry: Mapping[str, Json], folder: Path, home: Path | None) -> bool:
    """Return whether a cluster or user entry leads to this machine or into the folder `home`.

    `folder` is where the kubeconfig lies, for relative names. An empty entry is of no cluster,
    and may be replaced.
    """
    if home is not None and lies_in(entry, folder, home):
        return True
    if server := entry.get("server"):
        return _is_local(str(server))
    return not entry


def lies_in(entry: Mapping[str, Json], folder: Path, home: Path) -> bool:
    """Return whether a file that an entry names is in the folder `home`."""
    named = ((folder / str(entry[key])).resolve() for key in _FILES if key in entry)
    return any(path.is_relative_to(home.resolve()) for path in named)


def _is_local(server: str) -> bool:
    try:
        host = urlsplit(server).hostname or ""
    except ValueError:
        return False
    if host == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified
