"""What tests of comparisons have in common: records of two sides, and what their comparison finds."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kwokctl.measure.comparing.comparison import (
    ComparedFigure,
    CompareRequest,
    compared,
)
from kwokctl.measure.comparing.sample import RunSample, SampleRequest, read_sample, records_of
from kwokctl.measure.record.record_file import RecordWriter
from kwokctl.measure.record.record_lines import Lines
from tests.support.measured import BEGIN, END, MS, SECOND, SHAPE, TEXTS, header, life

P50 = "pods.created_to_bound.p50"


USUAL = (100, 104, 96, 101, 99)
"""Latencies of a pod, in milliseconds, one for each run."""
LATER = (130, 135, 125, 131, 129)


def write(path: Path, latency: int, *, end: Lines | None = END, **fields: Any) -> Path:
    """Write the record of a run with one pod."""
    path.parent.mkdir(exist_ok=True)
    lines = [BEGIN, *TEXTS, SHAPE, *life(1, 0, latency * MS, SECOND), *([end] if end else [])]
    with RecordWriter(path) as writer:
        writer.begin(header(**fields))
        for line in lines:
            writer.add(line)
    return path


def sample(
    tmp_path: Path, name: str, latencies: Sequence[int], *figures: str, **fields: Any
) -> RunSample:
    """Write a run for each latency, and read them."""
    for number, latency in enumerate(latencies, 1):
        write(tmp_path / f"{name}-{number}.jsonl.gz", latency, **fields)
    base = str(tmp_path / name)
    return read_sample(base, records_of(base), SampleRequest(figures=figures or (P50,)))


def found(
    tmp_path: Path,
    a: Sequence[int],
    b: Sequence[int],
    max_worse: float | None = None,
    figure: str = P50,
) -> ComparedFigure:
    """Return what is found of one figure."""
    sides = sample(tmp_path, "a", a, figure), sample(tmp_path, "b", b, figure)
    return compared(*sides, CompareRequest(max_worse=max_worse)).figures[0]
