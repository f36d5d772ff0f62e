"""Reads when arrivals came from a file: CSV, JSON lines, or what `snapshot record` writes."""

import csv
import gzip
import io
import math
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from kwokctl.clusters.object_files.reading import ObjectFile
from kwokctl.clusters.object_files.recording.actions import Method, RecordedAction
from kwokctl.errors import ConfigError, ExpressionError, KwokctlError
from kwokctl.expr import yaml_scalars
from kwokctl.expr.duration import parse_duration, parse_time
from kwokctl.json_value import Json

_TIME, _PARAMS = "time", "params"
_GZIP = b"\x1f\x8b"
_MOST_BYTES = 256 * 1024 * 1024
"""Of what is compressed: a file of a few kilobytes may be larger than the memory."""
_MOST_ROWS = 10_000_000
_JSON = b"{"
_OF_YAML = (b"---", b"apiVersion:", b"kind:", b"#")


class TraceRow(msgspec.Struct, frozen=True, kw_only=True):
    """One arrival of a trace."""

    seconds: float
    """Since the trace began."""
    columns: Mapping[str, Json] = {}
    recorded: Mapping[str, Json] | None = None
    """The object that was created then, in a recording."""


def read_trace(path: Path) -> tuple[TraceRow, ...]:
    """Return the arrivals of a file in the order of their times; ConfigError with the line of what is wrong."""
    try:
        text = _content(path)
    except (OSError, EOFError, zlib.error) as e:
        why = getattr(e, "strerror", None) or str(e)
        raise ConfigError(f"the trace '{path}' cannot be read: {why}") from e
    head = text.lstrip()
    if head.startswith(_JSON):
        rows = _timed(path, _json_lines(path, text))
    elif head.startswith(_OF_YAML):
        rows = list(_recorded(path))
    else:
        rows = _timed(path, _csv(path, text))
    if not rows:
        raise ConfigError(f"the trace '{path}' has no arrival")
    return tuple(sorted(rows, key=lambda row: row.seconds))


def _content(path: Path) -> bytes:
    content = path.read_bytes()
    if not content.startswith(_GZIP):
        return content
    with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
        text = file.read(_MOST_BYTES + 1)
    if len(text) > _MOST_BYTES:
        raise ConfigError(
            f"the trace '{path}' has more than {_MOST_BYTES // 1024**2} MiB",
            hint="take a part of it, or do not compress it",
        )
    return text


def _csv(path: Path, text: bytes) -> Iterator[tuple[int, Json, Mapping[str, Json]]]:
    """Yield line, time and columns of each row."""
    reader = csv.DictReader(io.StringIO(_decoded(path, text)))
    if _TIME not in (reader.fieldnames or ()):
        raise ConfigError(
            f"'{path}', line 1: there is no column '{_TIME}'",
            hint="the first line names the columns, and one of them is 'time'",
        )
    for row in _rows(path, reader):
        if None in row or None in row.values():
            raise _fault(
                path, reader.line_num, "has not as many values as the first line has names"
            )
        values = {name: _scalar(value) for name, value in row.items() if name != _TIME}
        yield reader.line_num, _scalar(row[_TIME]), values


def _rows(path: Path, reader: "csv.DictReader[str]") -> Iterator[dict[str, str]]:
    try:
        yield from reader
    except csv.Error as e:
        raise _fault(path, reader.line_num + 1, f"is no row of a table: {e}") from e


def _json_lines(path: Path, text: bytes) -> Iterator[tuple[int, Json, Mapping[str, Json]]]:
    """Yield line, time and columns of each object."""
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row = msgspec.json.decode(line, type=dict[str, Json])
            params = msgspec.convert(row.pop(_PARAMS, {}), dict[str, Json])
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as e:
            raise _fault(path, number, f"is no JSON object: {e}") from e
        if _TIME not in row:
            raise _fault(path, number, f"has no '{_TIME}'")
        yield number, row.pop(_TIME), {**row, **params}


def _timed(path: Path, rows: Iterator[tuple[int, Json, Mapping[str, Json]]]) -> list[TraceRow]:
    """Return rows with their times in seconds; points in time count from the first row."""
    found: list[TraceRow] = []
    origin: float | None = None
    for line, time, columns in rows:
        seconds, is_moment = _seconds(path, line, time)
        if is_moment:
            origin = seconds if origin is None else origin
            seconds -= origin
        if seconds < 0:
            raise _fault(path, line, f"has the time '{time}', which is before the beginning")
        if len(found) == _MOST_ROWS:
            raise _fault(path, line, f"is one more than the {_MOST_ROWS:,} that a trace may have")
        found.append(TraceRow(seconds=seconds, columns=columns))
    return found


def _seconds(path: Path, line: int, time: Json) -> tuple[float, bool]:
    """Return a time in seconds, and whether it is a point in time."""
    if isinstance(time, int | float) and math.isfinite(time):
        return time, False
    for read, is_moment in ((parse_duration, False), (parse_time, True)):
        try:
            return read(str(time)), is_moment
        except ExpressionError:
            continue
    raise _fault(
        path,
        line,
        f"has the time '{time}': write seconds, a duration such as 1m30s, or a time of RFC 3339",
    )


def _recorded(path: Path) -> Iterator[TraceRow]:
    """Yield the objects that a user created; others were made by controllers."""
    try:
        for line, value in ObjectFile(path).actions(0):
            action = msgspec.convert(value, RecordedAction)
            template = action.template or {}
            is_made = bool((template.get("metadata") or {}).get("ownerReferences"))
            if action.method is Method.CREATE and not is_made:
                yield TraceRow(seconds=action.seconds, recorded=_object(path, line, template))
    except msgspec.ValidationError as e:
        raise ConfigError(f"'{path}' is no recording: {e}") from e
    except KwokctlError as e:
        if isinstance(e, ConfigError):
            raise
        raise ConfigError(str(e), hint=e.hint) from e


def _object(path: Path, line: int, template: Mapping[str, Json]) -> Mapping[str, Json]:
    if not template.get("apiVersion") or not template.get("kind"):
        raise _fault(path, line, "creates an object without 'apiVersion' and 'kind'")
    return template


def _decoded(path: Path, text: bytes) -> str:
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError as e:
        raise ConfigError(f"the trace '{path}' is not text: {e}") from e


def _scalar(text: str) -> Json:
    """Return a value of CSV as YAML would read it: a number, a switch, or a text."""
    try:
        return yaml_scalars.resolve(text)
    except ValueError:
        return text


def _fault(path: Path, line: int, problem: str) -> ConfigError:
    return ConfigError(f"'{path}', line {line}: {problem}")
