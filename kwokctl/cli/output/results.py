"""Writes results to standard output: tables, names, JSON and YAML."""

import os
import select
import shutil
import sys
from collections.abc import Sequence, ValuesView
from enum import StrEnum
from itertools import accumulate
from pathlib import PurePath

import msgspec
from msgspec.structs import asdict

from kwokctl.cli.output import line_writer, standard_streams
from kwokctl.cli.output.characters import encodable
from kwokctl.errors import KwokctlError
from kwokctl.json_value import Json

_NARROWEST = 40
_GAP = 3
"""Spaces between two columns, where there is room for them."""
_WORTH_CUTTING = 12
"""Characters of a cell that are shown at the least, if it must be cut."""


def emit(text: str) -> None:
    """Write a result, with a line end if it lacks one."""
    emit_bytes((text if text.endswith("\n") or not text else text + "\n").encode())


def emit_bytes(content: bytes) -> None:
    """Write a part of a result at once; BrokenPipeError when the reader is gone."""
    try:
        sys.stdout.flush()
        view = memoryview(content)
        while view:
            view = view[os.write(sys.stdout.fileno(), view) :]
    except BrokenPipeError:
        raise
    except OSError as e:
        raise unwritable(e) from e


def reader_is_gone() -> bool:
    """Return whether the reader has ended, as with `| head`; if so, drop the output."""
    if not hasattr(select, "poll"):  # as on Windows, where nothing else is known of a pipe
        _let_go()
        return True
    poll = select.poll()
    poll.register(sys.stdout.fileno(), 0)
    if not any(event & select.POLLERR for _, event in poll.poll(0)):
        return False
    _let_go()
    return True


def unwritable(error: OSError) -> KwokctlError:
    """Return the error for a standard output that cannot be written to."""
    return KwokctlError(f"cannot write to standard output: {(error.strerror or '').lower()}")


def is_unwritable() -> bool:
    """Return whether something could not be written; it is dropped, or the end of Python would fail."""
    try:
        sys.stdout.flush()
    except OSError:
        _let_go()
        return True
    return False


def _let_go() -> None:
    standard_streams.drop(sys.stdout.fileno())


def emit_data(data: object, output: str) -> None:
    """Write values as `json` or `yaml`."""
    body = plain(data)
    if output == "json":
        import json

        emit(json.dumps(body, indent=2, ensure_ascii=False))
        return
    import yaml

    emit(yaml.safe_dump(body, sort_keys=False, allow_unicode=True, default_flow_style=False))


def emit_table(
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    widths: Sequence[int] = (),
    ends_in_prose: bool = False,
) -> list[int]:
    """Write columns as wide as their widest cell, three spaces apart; a cell keeps to one line, and its indentation.

    On a terminal no line is longer than it is wide: columns stand closer where that makes room for all, else an ellipsis is in place of what has
    no room; only the prose of a last column goes on in the next line. Later rows are written without headings, in the `widths` that the first
    table returned.
    """
    cells = [[_on_one_line(cell) for cell in row] for row in rows]
    if headings:
        cells.insert(0, list(headings))
        widths = [max(len(row[i]) for row in cells) for i in range(len(headings))]
    fitted = _prose if ends_in_prose else _fitted
    emit("\n".join(fitted(row, widths) for row in cells))
    return list(widths)


def _on_one_line(cell: str) -> str:
    indentation = len(cell) - len(cell.lstrip(" "))
    return " " * indentation + " ".join(cell.split())


def _fitted(row: Sequence[str], widths: Sequence[int]) -> str:
    """Write a row; on a terminal cut to its width, between columns unless much of one can be shown."""
    columns = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    between = " " * _gap(widths, columns)
    line = between.join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip()
    if columns is None or len(line) <= columns:
        return line
    cut = encodable("…", sys.stdout.encoding)
    room = columns - len(cut)
    starts = accumulate((width + len(between) for width in widths), initial=0)
    start = max(each for each in starts if each <= room)
    return line[: start if start and room - start < _WORTH_CUTTING else room] + cut


def _prose(row: Sequence[str], widths: Sequence[int]) -> str:
    """Write a row; on a terminal its last cell is a column of text, if there is room for one."""
    columns = shutil.get_terminal_size().columns if sys.stdout.isatty() else 0
    before = sum(widths[:-1]) + _GAP * (len(widths) - 1)
    if columns - before < _NARROWEST // 2:
        return _fitted(row, widths)
    from textwrap import wrap

    first, *others = wrap(row[-1], columns - before) or [""]
    line = (" " * _GAP).join([*(c.ljust(w) for c, w in zip(row, widths[:-1], strict=False)), first])
    return "\n".join([line.rstrip(), *(" " * before + each for each in others)])


def _gap(widths: Sequence[int], columns: int | None) -> int:
    """Return the widest gap with which all columns have room; the usual one if there is none."""
    gaps = range(_GAP, 0, -1)
    fitting = (
        gap for gap in gaps if columns is None or sum(widths) + gap * (len(widths) - 1) <= columns
    )
    return next(fitting, _GAP)


def parted(line: str, *, hanging: int | None = None) -> list[str]:
    """Part a line at the width of the terminal, if there is one; `hanging` indents further lines."""
    if not sys.stdout.isatty():
        return [line]
    columns = max(shutil.get_terminal_size().columns, _NARROWEST)
    return line_writer.parted(line, columns, hanging=hanging)


def plain(value: object) -> Json:
    """Turn Structs, tuples and paths into what JSON and YAML have; names become camelCase."""
    if isinstance(value, msgspec.Struct):
        return {camel(name): plain(each) for name, each in asdict(value).items()}
    if isinstance(value, list | tuple | set | frozenset | ValuesView):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, StrEnum | PurePath):
        return str(value)
    return value


def camel(name: str) -> str:
    """Write a name as Kubernetes does: `kube_version` becomes `kubeVersion`."""
    first, *rest = name.split("_")
    return first + "".join(word.title() for word in rest)
