"""Writes a snapshot of objects beside its name, and takes it up again where it was interrupted."""

import gzip
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Self

import msgspec

from kwokctl.clusters.object_files.exporting.listing import PagePlace
from kwokctl.clusters.object_files.object_documents import SEPARATOR
from kwokctl.clusters.object_files.rules.applying import fresh_salt
from kwokctl.errors import ConflictError, UnavailableError
from kwokctl.etcd.snapshot_files import check_free
from kwokctl.host.files import write_atomic

_COMPRESSED = (".gz", ".tgz")
_LEVEL = 5
"""Of gzip: nine tenths of what the best level saves, in a third of the time."""


class Journal(msgspec.Struct, frozen=True, kw_only=True):
    """The progress of an export."""

    source: str
    """The identity of the export: the server, and all options that decide its content."""
    kind: int = 0
    token: str = ""
    size: int = 0
    """Bytes of the file up to this place."""
    kind_size: int = 0
    """Bytes of the file up to the beginning of this kind."""
    salt: str = ""
    """The salt of the pseudonyms in the file."""
    objects: int = 0
    kind_objects: int = 0
    """The same of objects."""

    @property
    def place(self) -> PagePlace:
        """The position at which reading continues."""
        return PagePlace(kind=self.kind, token=self.token)


class PartFile:
    """A file under construction, which only its owner can read.

    Use it as a context: left by an exception it stays, with its journal, if it is to be resumed.
    """

    def __init__(
        self, path: Path, source: str, *, force: bool = False, resumes: bool = True
    ) -> None:
        """Open nothing yet; ConflictError if there is such a file and `force` is not given."""
        check_free(path, force=force)
        self.path = path
        self._part = path.with_name(path.name + ".part")
        self._note = path.with_name(path.name + ".resume")
        self._resumes = resumes
        self._is_compressed = path.suffix in _COMPRESSED
        self.journal = self._left(source) if resumes else Journal(source=source, salt=fresh_salt())
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Self:
        """Open the file behind what is in it already."""
        with self._explained():
            descriptor = os.open(self._part, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            # Without a buffer: what could not be written must not be written later.
            self._file = os.fdopen(descriptor, "r+b", buffering=0)
            self._file.truncate(self.journal.size)
            self._file.seek(self.journal.size)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        """Close the file; without a journal nothing of it is left."""
        assert self._file is not None
        with suppress(OSError):
            self._file.close()
        if not self._note.exists():
            self._part.unlink(missing_ok=True)

    def begin_kind(self) -> None:
        """Note that a kind begins, or begins again: what was written of it is dropped."""
        journal = self.journal
        assert self._file is not None
        self._file.truncate(journal.kind_size)
        self._file.seek(journal.kind_size)
        self.journal = msgspec.structs.replace(
            journal, size=journal.kind_size, objects=journal.kind_objects
        )

    def write(self, documents: Sequence[bytes]) -> None:
        """Add documents."""
        if not documents:
            return
        before = SEPARATOR if self.journal.size else b""
        text = before + SEPARATOR.join(documents)
        data = gzip.compress(text, _LEVEL, mtime=0) if self._is_compressed else text
        self._put(data)
        journal = self.journal
        self.journal = msgspec.structs.replace(
            journal, size=journal.size + len(data), objects=journal.objects + len(documents)
        )

    def cut(self) -> None:
        """Remove what a write has left that failed."""
        assert self._file is not None
        self._file.truncate(self.journal.size)

    def _put(self, data: bytes) -> None:
        assert self._file is not None
        left = memoryview(data)
        with self._explained():
            while left:
                left = left[self._file.write(left) :]

    def keep(self, place: PagePlace) -> None:
        """Note how far reading has come, for a later run."""
        journal = self.journal
        is_new = place.kind != journal.kind
        self.journal = msgspec.structs.replace(
            journal,
            kind=place.kind,
            token=place.token,
            kind_size=journal.size if is_new else journal.kind_size,
            kind_objects=journal.objects if is_new else journal.kind_objects,
        )
        if self._resumes:
            with self._explained():
                write_atomic(self._note, msgspec.json.encode(self.journal), mode=0o600)

    def finish(self) -> int:
        """Give the file its name; return its size."""
        assert self._file is not None
        with self._explained():
            os.fsync(self._file.fileno())
            self._part.replace(self.path)
        self._note.unlink(missing_ok=True)
        return self.journal.size

    def _left(self, source: str) -> Journal:
        """Return how far an earlier run has come; ConflictError if it was for something else."""
        try:
            found = msgspec.json.decode(self._note.read_bytes(), type=Journal)
            is_whole = self._part.stat().st_size >= found.size
        except (OSError, msgspec.MsgspecError):
            return Journal(source=source, salt=fresh_salt())
        if not is_whole:
            return Journal(source=source, salt=fresh_salt())
        if found.source != source:
            raise ConflictError(
                f"'{self._part}' belongs to another export that was interrupted",
                hint=f"repeat that one, or remove '{self._part}' and '{self._note}'",
            )
        return found

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except OSError as e:
            raise UnavailableError(
                f"'{self._part}' cannot be written: {e.strerror}",
                hint="free space there, or choose another --path",
            ) from e
