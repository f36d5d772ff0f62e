"""Sample reports: the kwokctl of the checkout makes them when the site is built, from records of real runs.

So they look as reports look now; `docs/record_samples.py` makes the records again.
"""

import posixpath
import re
import subprocess  # noqa: TID251 - the command as a user calls it
import sys
from collections.abc import Mapping
from pathlib import Path

FOLDER = "docs/samples"
SAMPLES: Mapping[str, tuple[str, ...]] = {
    f"{FOLDER}/training.jsonl.gz": ("measure", "training.jsonl.gz"),
    f"{FOLDER}/packing": (
        *("measure", "compare", "packing/least.jsonl.gz", "packing/most.jsonl.gz"),
        *("--figure", "fleet.fragmentation.nvidia.com/gpu.mean"),
        *("--figure", "fleet.largest_gang.nvidia.com/gpu.mean"),
        *("--figure", "pods.created_to_bound.max"),
    ),
}
"""The words that make each report in that folder, by the record or the records to which pages link."""


def report_of(path: str) -> str | None:
    """Return the path in the site of the report on a record; None for another file."""
    if path not in SAMPLES:
        return None
    return f"{posixpath.basename(FOLDER)}/{posixpath.basename(path).partition('.')[0]}.html"


def write_reports(root: Path, pages: Path) -> None:
    """Write all reports among the pages of the site."""
    for path, words in SAMPLES.items():
        report = pages / (report_of(path) or "")
        report.parent.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "kwokctl", *words, "--report", str(report)]
        done = subprocess.run(
            command, cwd=root / FOLDER, capture_output=True, text=True, check=False
        )
        if done.returncode:
            sys.exit(f"the report on {path} is not made: {done.stderr}")


def with_reports(text: str) -> str:
    """Return the text of a page in the site with each report below the paragraph that links to it."""
    reports = {posixpath.basename(report_of(path) or "") for path in SAMPLES}

    def shown(match: re.Match[str]) -> str:
        found = [report for report in reports if f"]({report})" in match[0]]
        frames = (
            f'<iframe class="sample" src="{each}" title="The report"></iframe>\n' for each in found
        )
        return "\n".join([match[0], *frames])

    return re.sub(r"(?:^.+\n)+", shown, text, flags=re.MULTILINE)
