"""The programs kept in the user's cache folder: each was hashed when it came in.

`ROOT/NAME/VERSION/` holds the program and `record.json`, which says what it must be.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from kwokctl.errors import ArtifactError
from kwokctl.host.files import remove_tree, write_atomic
from kwokctl.json_value import Json
from kwokctl.replacing import replace

_RECORD = "record.json"


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A program in the store."""

    name: str
    version: str
    """Its folder; a program from an address that the user gave has `@` and a digest at the end."""
    path: Path
    source: str
    """`download` or `build`."""
    origin: str
    """The address it was downloaded from, or the Go package and the Go release."""
    sha256: str
    size: int
    """In bytes."""
    mtime_ns: int
    inode: int
    checksum: str = ""
    """The checksum with which a download was compared: `published`, `given`, `pinned` in kwokctl
    or `recorded` at the first download, or `none`; empty for builds."""

    @property
    def last_use(self) -> float:
        """The time of its last use, in seconds since 1970; 0.0 once it has been removed."""
        with suppress(OSError):
            return (self.path.parent / _RECORD).stat().st_mtime
        return 0.0

    def is_as_recorded(self) -> bool:
        """Return, without reading it, whether the file is the one that was stored."""
        now = self.path.stat()
        return (now.st_size, now.st_mtime_ns, now.st_ino) == (self.size, self.mtime_ns, self.inode)


class ProgramStore:
    """The programs below `root`, all for one kind of machine."""

    def __init__(self, root: Path) -> None:
        """Keep programs below `root`, which need not exist yet."""
        self.root = root

    def find(self, name: str, version: str) -> Entry | None:
        """Return a program that can be trusted, or None if it is not here.

        A file whose size, time or inode differ from the record is read in full. Raises
        ArtifactError when its content has changed.
        """
        entry = self._read(self.root / name / version)
        if entry is None:
            return None
        if entry.is_as_recorded():
            _note_use(entry)
            return entry
        if digest(entry.path) != entry.sha256:
            raise changed(entry)
        entry = _stamped(entry)
        with suppress(OSError):  # a store that we may only read is as good
            entry.path.chmod(0o755)
            _write(entry)
        return entry

    def seen(self, name: str, version: str) -> bool:
        """Return whether a program is there; it is neither checked nor noted that it was requested."""
        return self._read(self.root / name / version) is not None

    def noted_sum(self, name: str, version: str) -> str:
        """Return the SHA-256 of a program that looks as it was stored; empty if none does."""
        entry = self._read(self.root / name / version)
        return entry.sha256 if entry and entry.is_as_recorded() else ""

    def closed(self, name: str, mode: int) -> Path | None:
        """Return the folder in which this user may not do what `mode` of os.access says, if one is in the way.

        Those of a store that several users share are the owner's; those that do not exist yet will be ours.
        """
        folders = (self.root / name, self.root, *self.root.parents)
        nearest = next(folder for folder in folders if os.access(folder, os.F_OK))
        is_open = os.access(nearest, mode | os.X_OK) or not nearest.is_dir()
        return None if is_open else nearest

    def path(self, name: str, version: str) -> Path:
        """Return where a program is, or will be."""
        return self.root / name / version / name

    def publish(
        self,
        program: Path,
        *,
        name: str,
        version: str,
        source: str,
        origin: str,
        checksum: str = "",
    ) -> Entry:
        """Move a program, which is on the same file system, into the store, whole or not at all.

        It replaces an entry of that name and version; processes that run the old file keep it.
        """
        staging = _empty(program.with_name(f".{name}.entering"))
        file = program.rename(staging / name)
        file.chmod(0o755)
        _settle(file)
        entry = _recorded(file, version=version, source=source, origin=origin, checksum=checksum)
        folder = self.root / name / version
        folder.parent.mkdir(parents=True, exist_ok=True)
        if folder.exists():
            leaving = _empty(program.with_name(f".{name}.leaving"))
            folder.rename(leaving / version)
            staging.rename(folder)
            remove_tree(leaving)
        else:
            staging.rename(folder)
        return replace(entry, path=folder / name)

    def entries(self) -> Iterator[Entry]:
        """Yield all there is, by name and version."""
        for folder in sorted(self.root.glob("*/*")):
            if entry := self._read(folder):
                yield entry

    def broken(self) -> Iterator[Path]:
        """Yield the folders that hold no whole entry."""
        for folder in sorted(self.root.glob("*/*")):
            if self._read(folder) is None:
                yield folder

    def remove(self, entry: Entry) -> None:
        """Remove a program; processes that run it keep its file."""
        shutil.rmtree(entry.path.parent)

    def _read(self, folder: Path) -> Entry | None:
        """Read a record; None unless both it and the program are there."""
        path = folder / folder.parent.name
        try:
            fields: dict[str, Json] = json.loads((folder / _RECORD).read_bytes())
            entry = Entry(name=folder.parent.name, version=folder.name, path=path, **fields)
        except (OSError, ValueError, TypeError):
            return None
        return entry if path.is_file() else None


def digest(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def changed(entry: Entry) -> ArtifactError:
    """Return the error that says that a stored program is not what it was."""
    return ArtifactError(
        f"'{entry.path}' has changed since it was stored",
        hint="'kwokctl artifacts verify --repair' replaces it",
    )


def _note_use(entry: Entry) -> None:
    with suppress(OSError):  # a store that we may only read is as good
        os.utime(entry.path.parent / _RECORD)


def _recorded(file: Path, *, version: str, source: str, origin: str, checksum: str) -> Entry:
    """Write down what a program is, beside it."""
    now = file.stat()
    entry = Entry(
        name=file.name,
        version=version,
        path=file,
        source=source,
        origin=origin,
        sha256=digest(file),
        size=now.st_size,
        mtime_ns=now.st_mtime_ns,
        inode=now.st_ino,
        checksum=checksum,
    )
    _write(entry)
    return entry


def _empty(folder: Path) -> Path:
    remove_tree(folder)
    folder.mkdir(parents=True)
    return folder


def _stamped(entry: Entry) -> Entry:
    now = entry.path.stat()
    return replace(entry, size=now.st_size, mtime_ns=now.st_mtime_ns, inode=now.st_ino)


def _write(entry: Entry) -> None:
    fields = msgspec.structs.asdict(entry)
    for known_from_the_path in ("name", "version", "path"):
        del fields[known_from_the_path]
    write_atomic(entry.path.parent / _RECORD, json.dumps(fields, indent=2) + "\n")


def _settle(file: Path) -> None:
    """Flush a file's content to the disk before its record says that it is there."""
    descriptor = os.open(file, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
