"""Measures in tests on a machine that may be busy: then the recorder is late, which makes a run invalid and breaks nothing else."""

import json
import re
from pathlib import Path
from typing import Any

from tests.support.installed import Finished, Installed

_LATE = re.compile(r"invalid: the recorder was [\d.]+ s behind")


def run_measure(cluster: Installed, *words: str, code: int = 0, **settings: Any) -> Finished:
    """Run `measure` to its end; it may fail with another code for a late recorder alone."""
    done = cluster.run("measure", *words, **settings)
    assert done.code == code or (done.code == 1 and _LATE.search(f"{done.out}{done.err}")), done
    return done


def report_of(
    cluster: Installed, record: Path, *words: str, code: int = 0, **settings: Any
) -> dict[str, Any]:
    """Measure with a record, and return the report, judged as if the recorder had been in time."""
    recorded = ("--record", str(record), "-o", "json")
    return report_in(run_measure(cluster, *recorded, *words, code=code, **settings).out)


def report_in(text: str) -> dict[str, Any]:
    """Read a report, judged as if the recorder had been in time."""
    report: dict[str, Any] = json.loads(text)
    verdict = report["verdict"]
    problems = [each for each in verdict["problems"] if not _LATE.match(each)]
    if len(problems) < len(verdict["problems"]):
        is_valid = not any(each.startswith("invalid:") for each in problems)
        verdict |= {"problems": problems, "passed": not problems, "valid": is_valid}
    return report


def value(report: dict[str, Any], name: str) -> Any:
    """Return the value of a figure of a report."""
    return report["figures"][name]["value"]
