"""Tests whose runs are measured: from the beginning of the test until it reads a figure, or ends."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from kwokctl.errors import KwokctlError, UsageError
from kwokctl.pytest_plugin.evidence import Section

if TYPE_CHECKING:
    from kwokctl.library.cluster import Cluster
    from kwokctl.library.measuring.measure_words import MeasureWords
    from kwokctl.library.measuring.measurement import Measurement

MEASURED_MARKER = "kwok_measured"
_RUN = pytest.StashKey["Measurement"]()
_IS_KEPT = pytest.StashKey[bool]()
_REPORT = ".html"
_LONGEST = 120
"""The characters of a test's name that the names of its files have."""


@contextmanager
def measured_test(item: pytest.Item, cluster: "Cluster", folder: Path) -> "Iterator[Measurement]":
    """Measure while inside, in the words of the test's markers; the record of a test that passes is removed.

    Raises UsageError, which names the test, for words that a measurement does not have.
    """
    words = _words(item)
    name = re.sub(r"[^\w.-]+", "_", item.nodeid)[-_LONGEST:]
    folder.mkdir(parents=True, exist_ok=True)
    is_ours = "record" not in words
    words.setdefault("record", folder / f"{name}.jsonl.gz")
    run = cluster.measure(**words)
    run.ends_when_read = True
    run.begin()
    item.stash[_RUN] = run
    try:
        yield run
    finally:
        if not run.is_over:
            run.break_off()
        if is_ours and not item.stash.get(_IS_KEPT, False):
            run.record.unlink(missing_ok=True)


def kept_report(item: pytest.Item) -> Iterator[Section]:
    """Write the report on the run of a failed test, and yield what it says first, and where it is.

    A run that goes on ends at once. What cannot be written must not hide why the test failed.
    """
    run = item.stash.get(_RUN, None)
    if run is None:
        return
    item.stash[_IS_KEPT] = True
    try:
        if not run.is_over:
            run.break_off()
        path = run.record.with_name(run.record.name.partition(".jsonl")[0] + _REPORT)
        lines = [repr(run), *run.verdict.problems, f"report: {run.report(path)}"]
        lines.append(f"record: {run.record} (kwokctl measure FILE)")
    except (KwokctlError, OSError) as e:
        lines = [f"there is no report: {e}", f"record: {run.record}"]
    yield "kwok: the measured run", "\n".join(lines)


def _words(item: pytest.Item) -> "MeasureWords":
    """Return the words of all markers of a test; the closest one counts most."""
    from kwokctl.library.measuring.measure_words import (
        demand_measure_words,  # not before a test uses it
    )

    found: dict[str, object] = {}
    for marker in reversed(list(item.iter_markers(MEASURED_MARKER))):
        place = f"@pytest.mark.{MEASURED_MARKER} of {item.name}"
        if marker.args:
            raise UsageError(
                f"{place}: it takes words with names",
                hint=f'for example: @pytest.mark.{MEASURED_MARKER}(load="burst.yaml")',
            )
        try:
            demand_measure_words(marker.kwargs)
        except UsageError as e:
            raise UsageError(f"{place}: {e}", hint=e.hint) from e
        found |= marker.kwargs
    if "load" in found:
        found["load"] = _placed(found["load"], item.path.parent)
    return cast("MeasureWords", found)


def _placed(given: object, folder: Path) -> object:
    """Return loads whose files are relative to the folder of the test."""
    if isinstance(given, str | PathLike):
        return folder / Path(fspath(given)).expanduser()
    if isinstance(given, Sequence):
        return [_placed(each, folder) for each in given]
    return given
