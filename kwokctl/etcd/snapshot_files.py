"""Writes, verifies and restores etcd snapshot files.

The file is a bbolt database followed by the SHA-256 of all before it, 32 bytes
(https://etcd.io/docs/v3.6/op-guide/recovery/). Databases are whole pages, so the size of a file
with its sum is 32 more than a multiple of 512.
"""

import hashlib
import os
import struct
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from typing import BinaryIO

import msgspec

from kwokctl.errors import CommandError, ConflictError, SnapshotError, UnavailableError
from kwokctl.etcd import member
from kwokctl.etcd.bolt import MAGIC, DamagedFileError
from kwokctl.etcd.database_contents import has_key, look
from kwokctl.etcd.etcd3_client import EtcdClient
from kwokctl.host import process
from kwokctl.progress import Progress, Step

_SUM_BYTES = 32
_PAGE_BYTES = 512
_CHUNK = 1 << 20
_MAGIC_OFFSET = 16
"""A bbolt file begins with a meta page: a header of 16 bytes, then the magic number."""


class SavedSnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """A snapshot file that has been written."""

    path: Path
    size: int
    """Bytes, its sum included."""
    sha256: str
    """The sum at the end of the file, in hexadecimal digits."""


async def save(client: EtcdClient, path: Path, *, force: bool, progress: Progress) -> SavedSnapshot:
    """Stream a snapshot into a file that only its owner can read: it holds every Secret.

    The file appears when its sum has been checked. Raises ConflictError if there is one already
    and `force` is not given, SnapshotError if what came is not whole.
    """
    status = await client.status()
    with (
        _published(path, force=force) as file,
        progress.step("Saving the snapshot", total=status.db_size, unit="B") as step,
    ):
        sink = _Sink(file, step)
        await client.snapshot(sink.take)
        sink.check()
    return SavedSnapshot(path=path, size=sink.size, sha256=sink.sum)


def verify(path: Path) -> None:
    """Raise SnapshotError unless the file is a whole etcd snapshot."""
    if path.exists() and not path.is_file():
        raise SnapshotError(f"'{path}' is not a file")
    try:
        with path.open("rb") as file:
            _check_shape(path, file, os.fstat(file.fileno()).st_size)
            _check_sum(path, file)
    except OSError as e:
        raise SnapshotError(f"'{path}' cannot be read: {e.strerror}") from e


def check_objects(path: Path, prefix: str) -> None:
    """Raise SnapshotError unless the file holds something under an API server's prefix.

    Restored elsewhere it would be an empty cluster.
    """
    try:
        others = look(path, prefix)
    except DamagedFileError as e:
        raise _damaged(path, e) from e
    if others is None:
        return
    raise SnapshotError(
        f"'{path}' holds no Kubernetes objects under '{prefix}', where this cluster keeps them",
        hint=f"restore it into a cluster that was created with '--etcd-prefix {others[0]}'"
        if others
        else "use a file that 'kwokctl snapshot save' has written",
    )


def holds(path: Path, key: str) -> bool:
    """Return whether the file has ever had a key, as far as its history reaches.

    Raises SnapshotError if it cannot be read.
    """
    try:
        return has_key(path, key)
    except DamagedFileError as e:
        raise _damaged(path, e) from e


def _damaged(path: Path, error: DamagedFileError) -> SnapshotError:
    return SnapshotError(
        f"'{path}' is damaged, although its checksum is right: {error}",
        hint="use another copy of the file",
    )


async def restore(etcdutl: Path, path: Path, data_dir: Path, *, bump_revision: int) -> None:
    """Make a data directory from a snapshot, its revisions raised by `bump_revision`.

    Everything older is marked as compacted, so that watches from an older revision fail and their
    clients list again. The file must have passed `verify`. The member keeps the name and addresses
    that etcd is started with. Raises SnapshotError when etcdutl cannot do it.
    """
    said: list[str] = []
    try:
        # In a session of its own: Ctrl-C is for us, not for it.
        # The file has just been verified: for hundreds of megabytes once is enough.
        words = (*restore_words(etcdutl, path, data_dir, str(bump_revision)), "--skip-hash-check")
        await process.run_leashed(*words, line=said.append)
    except CommandError as e:
        raise SnapshotError(
            f"'{path}' cannot be restored: etcdutl has failed",
            hint="if the file is damaged, use another copy of it",
            detail=_reason(said) or e.detail,
        ) from e


def restore_words(etcdutl: Path, path: Path, data_dir: Path, bump_revision: str) -> list[str]:
    """Return the command with which `restore` makes a data directory."""
    return [
        str(etcdutl),
        "snapshot",
        "restore",
        str(path),
        f"--data-dir={data_dir}",
        f"--bump-revision={bump_revision}",
        "--mark-compacted",
        f"--name={member.NAME}",
        f"--initial-cluster={member.CLUSTER}",
        f"--initial-advertise-peer-urls={member.ADVERTISED_PEER}",
    ]


def _reason(said: list[str]) -> str:
    """Return the output of a Go program without progress messages and stack traces."""
    before_stacks = takewhile(lambda line: not line.startswith("goroutine "), said)
    return "\n".join(line for line in before_stacks if "\tinfo\t" not in line).strip()


class _Sink:
    """Writes the stream and sums it up on the way; the sum itself is its last 32 bytes."""

    def __init__(self, file: BinaryIO, step: Step) -> None:
        self._file = file
        self._step = step
        self._sum = hashlib.sha256()
        self._held = b""
        self.size = 0

    def take(self, part: bytes) -> None:
        self._file.write(part)
        self.size += len(part)
        self._step.advance(len(part))
        # The last 32 bytes are known to be the sum only when nothing follows them.
        if len(part) >= _SUM_BYTES:
            self._sum.update(self._held)
            self._sum.update(memoryview(part)[:-_SUM_BYTES])
            self._held = part[-_SUM_BYTES:]
        else:
            held = self._held + part
            self._sum.update(held[:-_SUM_BYTES])
            self._held = held[-_SUM_BYTES:]

    @property
    def sum(self) -> str:
        """The sum that etcd has sent, in hexadecimal digits."""
        return self._held.hex()

    def check(self) -> None:
        whole = self.size % _PAGE_BYTES == _SUM_BYTES
        if not whole or self._sum.digest() != self._held:
            raise SnapshotError(
                "the snapshot that etcd sent is incomplete", hint="try again; nothing was written"
            )


def check_free(path: Path, *, force: bool) -> None:
    """Raise ConflictError or UnavailableError unless a snapshot can be written to a path."""
    if path.is_dir():
        raise ConflictError(f"'{path}' is a folder", hint="name a file in it")
    if path.exists() and not path.is_file():
        # A device or a pipe would be replaced by the file.
        raise ConflictError(f"'{path}' is not a file", hint="choose another path")
    if path.exists() and not force:
        raise ConflictError(
            f"'{path}' exists", hint="choose another path, or overwrite with --force"
        )
    if not path.parent.is_dir():
        raise UnavailableError(f"the folder '{path.parent}' does not exist", hint="make it first")


@contextmanager
def _published(path: Path, *, force: bool) -> Iterator[BinaryIO]:
    """Yield a file beside `path` that takes its name when the block ends well, else disappears."""
    check_free(path, force=force)
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as e:
        raise _unwritable(path, e) from e
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if not force:
            # A rename would replace a file that another program has created meanwhile; this would
            # not.
            path.touch(mode=0o600, exist_ok=False)
        temporary.replace(path)
    except FileExistsError as e:
        raise ConflictError(f"'{path}' was created meanwhile", hint="choose another path") from e
    except OSError as e:
        raise _unwritable(path, e) from e
    finally:
        temporary.unlink(missing_ok=True)


def _unwritable(path: Path, error: OSError) -> UnavailableError:
    return UnavailableError(f"'{path}' cannot be written: {error.strerror}")


def _check_shape(path: Path, file: BinaryIO, size: int) -> None:
    head = file.read(_MAGIC_OFFSET + 4)
    if size == 0:
        raise SnapshotError(f"'{path}' is empty")
    if len(head) < _MAGIC_OFFSET + 4 or struct.unpack_from("<I", head, _MAGIC_OFFSET)[0] != MAGIC:
        raise SnapshotError(
            f"'{path}' is not an etcd snapshot", hint="save one with: kwokctl snapshot save"
        )
    if size % _PAGE_BYTES != _SUM_BYTES:
        raise SnapshotError(
            f"'{path}' is incomplete: it was cut off, or is a database file without a checksum",
            hint="use a file that 'snapshot save' has written",
        )


def _check_sum(path: Path, file: BinaryIO) -> None:
    file.seek(0, os.SEEK_END)
    left = file.tell() - _SUM_BYTES
    file.seek(0)
    found = hashlib.sha256()
    while left and (chunk := file.read(min(_CHUNK, left))):
        found.update(chunk)
        left -= len(chunk)
    if found.digest() != file.read(_SUM_BYTES):
        raise SnapshotError(
            f"'{path}' is damaged: its content does not match its checksum",
            hint="use another copy of the file",
        )
