"""Writes and reads the file of a record."""

import gzip
import os
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Self

import msgspec

from kwokctl.errors import ConfigError, ConflictError
from kwokctl.host.files import naming
from kwokctl.measure.record.record_lines import FORM, VERSION, Header, Lines

_COMPRESSED = ".gz"
_LEVEL = 1
"""Of gzip: lines that are alike become a tenth of their size already, at the least cost."""
_BLOCK = 1 << 16
_LONGEST = 64 * 1024 * 1024
"""Bytes of a line."""
_line: Callable[[bytes], Lines] = msgspec.json.Decoder(Lines).decode
_header = msgspec.json.Decoder(Header).decode


class RecordWriter:
    """A record under construction. What was written before a crash can be read."""

    def __init__(self, path: Path) -> None:
        """Open nothing yet."""
        self.path = path
        self.lines = 0
        """The number of those that were written, without the header."""
        self.size = 0
        """Their bytes before compression."""
        self._encoder = msgspec.json.Encoder()
        self._waiting = bytearray()
        self._file: IO[bytes] | gzip.GzipFile | None = None
        self._plain: IO[bytes] | None = None

    def __enter__(self) -> Self:
        """Create the file; ConflictError if there is one already."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            descriptor = os.open(
                self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600
            )
        except FileExistsError as e:
            raise _taken(self.path) from e
        plain = os.fdopen(descriptor, "wb")
        if self.path.suffix == _COMPRESSED:
            self._file = gzip.GzipFile("", "wb", _LEVEL, plain, mtime=0)
        else:
            self._file = plain
        self._plain = plain
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        """Write what is left and close the file."""
        assert self._file is not None
        assert self._plain is not None
        try:
            self.flush()
        finally:
            with naming(self.path):
                self._file.close()
                self._plain.close()

    def begin(self, header: Header) -> None:
        """Write the first line."""
        self._waiting += self._encoder.encode(header) + b"\n"
        self.flush()

    def add(self, line: Lines) -> None:
        """Write a line, when there are enough of them."""
        start = len(self._waiting)
        self._encoder.encode_into(line, self._waiting, start)
        self._waiting += b"\n"
        self.lines += 1
        self.size += len(self._waiting) - start
        if len(self._waiting) > _BLOCK:
            self._write()

    def flush(self) -> None:
        """Hand over to the system what has been written so far."""
        assert self._file is not None
        self._write()
        with naming(self.path):
            self._file.flush()

    def _write(self) -> None:
        assert self._file is not None
        with naming(self.path):
            self._file.write(self._waiting)
        self._waiting.clear()


class RecordReader:
    """A record that is read line by line."""

    def __init__(self, path: Path) -> None:
        """Read the header; ConfigError if this is not a record, or one of a later version."""
        self.path = path
        self.is_cut = False
        """Whether the end is missing, as after a crash; known when all lines have been read."""
        self.number = 1
        """The line that was read last."""
        self._numbered = enumerate(self._rows(), 1)
        _, first = next(self._numbered, (0, b""))
        self.header = self._read_header(first)

    def lines(self) -> Iterator[Lines]:
        """Yield what follows the header; ConfigError, with the line, for what cannot be understood."""
        for number, row in self._numbered:
            self.number = number
            if not row.endswith(b"\n"):
                if len(row) > _LONGEST:
                    raise self.fault(f"it is longer than {_LONGEST:,} bytes")
                self.is_cut = True
                return
            yield self._read(row)

    def _rows(self) -> Iterator[bytes]:
        try:
            with self.path.open("rb") as plain:
                is_compressed = plain.read(2) == b"\x1f\x8b"
                plain.seek(0)
                file = gzip.GzipFile(fileobj=plain) if is_compressed else plain
                # The lines of a file that is compressed may be larger than the memory.
                yield from iter(lambda: file.readline(_LONGEST + 1), b"")
        except (EOFError, zlib.error, gzip.BadGzipFile):
            self.is_cut = True
        except OSError as e:
            why = (e.strerror or str(e)).lower()
            raise ConfigError(f"'{self.path}' cannot be read: {why}") from e

    def _read_header(self, row: bytes) -> Header:
        try:
            header = _header(row)
        except (msgspec.DecodeError, RecursionError) as e:
            raise _no_record(self.path) from e
        if header.form != FORM:
            raise _no_record(self.path)
        if header.version > VERSION:
            raise ConfigError(
                f"'{self.path}' is a record of version {header.version}; this kwokctl reads {VERSION}",
                hint=f"use kwokctl {header.kwokctl} or later",
            )
        return header

    def _read(self, row: bytes) -> Lines:
        try:
            return _line(row)
        except msgspec.DecodeError as e:
            raise self.fault(str(e).replace("`", "'")) from e
        except RecursionError as e:
            raise self.fault("it is nested too deeply") from e

    def fault(self, problem: str) -> ConfigError:
        """Return the error for the line that was read last."""
        return ConfigError(f"line {self.number} of '{self.path}' cannot be understood: {problem}")


def check_new(path: Path) -> None:
    """Raise ConflictError if there is a file where a record is to be written later."""
    if path.exists():
        raise _taken(path)


def _taken(path: Path) -> ConflictError:
    return ConflictError(f"'{path}' exists already", hint="give another '--record'")


def _no_record(path: Path) -> ConfigError:
    return ConfigError(
        f"'{path}' is not a record",
        hint="give a file of 'kwokctl measure --record', or of 'kwokctl snapshot record'",
    )
