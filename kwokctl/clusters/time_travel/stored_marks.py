"""The marks of a cluster on disk: a document and a file with the content for each."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import msgspec

from kwokctl.config.nearest import did_you_mean
from kwokctl.errors import NotFoundError, SnapshotError, UnavailableError, UsageError
from kwokctl.host.files import write_atomic
from kwokctl.host.paths import ClusterPaths
from kwokctl.model import ClusterName

_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?")


class Mark(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A saved state of a cluster to which it can be rewound."""

    name: str
    made: float
    """The time at which it was made, in seconds since 1970."""
    prefix: str
    """The prefix of all keys of the API server."""
    revision: int
    """The revision of etcd whose objects it has."""
    baseline: int
    """The latest revision at which the cluster was known to be as marked; at first `revision`."""
    witness: int
    """The revision of the key in etcd that proves its history."""
    objects: int
    size: int
    """The bytes of the file."""
    file: str
    """The name of the file with the content."""
    cluster: str = ""
    """The uid that identifies the cluster; empty in marks of earlier releases."""

    @property
    def key(self) -> bytes:
        """The key of etcd that proves that the history in which the mark was made is still the present one."""
        return witness_key(self.name)


def witness_key(name: str) -> bytes:
    """Return the key of a mark in etcd, outside of the API server's prefix."""
    return f"/kwokctl/marks/{name}".encode()


def mark_name(text: str) -> str:
    """Check the name of a mark: it becomes part of file names."""
    if not _NAME.fullmatch(text):
        raise UsageError(
            f"'{text}' cannot be the name of a mark",
            hint="use at most 63 lower-case letters, digits, '-' and '.', "
            "beginning and ending with a letter or digit",
        )
    return text


class Marks(msgspec.Struct, frozen=True):
    """The marks of one cluster."""

    paths: ClusterPaths
    cluster: ClusterName

    def all(self) -> list[Mark]:
        """Return all marks that can be read, the latest last."""
        found = [_read(self._document(name)) for name in self.names()]
        marks = [mark for mark in found if isinstance(mark, Mark)]
        return sorted(marks, key=lambda mark: (mark.made, mark.name))

    def names(self) -> list[str]:
        """Return the names of all marks, damaged ones among them."""
        return sorted(file.stem for file in self.paths.marks.glob("*.json"))

    def damage(self) -> list[SnapshotError]:
        """Return the errors of the marks that cannot be read."""
        found = [_read(self._document(name)) for name in self.names()]
        return [error for error in found if isinstance(error, SnapshotError)]

    def find(self, name: str) -> Mark:
        """Return the mark with a name, without a name the latest; NotFoundError if it does not exist.

        Raises SnapshotError if it is damaged. Without a name any damaged mark raises it, because that may be
        the latest.
        """
        if name in self.names() and isinstance(error := _read(self._document(name)), SnapshotError):
            raise error
        if not name:
            for error in self.damage():
                raise error
        there = {mark.name: mark for mark in self.all()}
        if not there:
            raise NotFoundError(
                f"the cluster '{self.cluster}' has no mark",
                hint=f"make one with: kwokctl --name {self.cluster} snapshot mark",
            )
        chosen = name or list(there)[-1]
        if found := there.get(chosen):
            return found
        raise NotFoundError(
            f"the cluster '{self.cluster}' has no mark called '{chosen}'",
            hint=did_you_mean(chosen, list(there)) or f"its marks are: {', '.join(there)}",
        )

    def content(self, mark: Mark) -> Path:
        """Return the file with the content of a mark."""
        return self.paths.marks / mark.file

    @contextmanager
    def writing(self, file: str) -> Iterator[BinaryIO]:
        """Yield a new file that only its owner can read, because it holds every Secret.

        The file is removed if the block raises; a full disk raises UnavailableError.
        """
        path = self.paths.marks / file
        try:
            with _explained(path):
                self.paths.marks.mkdir(mode=0o700, exist_ok=True)
                with open(path, "wb", opener=_private) as opened:
                    yield opened
        except BaseException:
            path.unlink(missing_ok=True)
            raise

    def keep(self, mark: Mark) -> None:
        """Write the document of a mark, which makes it exist, in place of one of the same name."""
        document = self._document(mark.name)
        with _explained(document):
            write_atomic(document, msgspec.json.encode(mark), mode=0o600)
        self.tidy()

    def forget(self, name: str) -> None:
        """Remove a mark, which may be damaged."""
        self._document(name).unlink(missing_ok=True)
        self.tidy()

    def tidy(self) -> None:
        """Remove content without a mark: of marks that were replaced, removed, or never finished."""
        wanted = {mark.file for mark in self.all()}
        for file in self.paths.marks.glob("*.content"):
            if file.name not in wanted:
                file.unlink(missing_ok=True)

    def _document(self, name: str) -> Path:
        return self.paths.marks / f"{name}.json"


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as e:
        raise UnavailableError(
            f"'{path}' cannot be written: {e.strerror}",
            hint="free space there, or drop old marks, then repeat it; the cluster is as it was",
        ) from e


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _read(file: Path) -> Mark | SnapshotError:
    try:
        mark = msgspec.json.decode(file.read_bytes(), type=Mark)
    except (OSError, msgspec.MsgspecError) as e:
        return _damaged(file, str(e))
    if mark.name != file.stem or Path(mark.file).name != mark.file:
        return _damaged(file, "it belongs to another mark")
    return mark


def _damaged(file: Path, why: str) -> SnapshotError:
    return SnapshotError(
        f"'{file}' is damaged: {why}",
        hint=f"drop the mark with 'snapshot drop {file.stem}', and make it again",
    )
