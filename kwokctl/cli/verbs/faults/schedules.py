"""The table of schedules of `fault status`."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kwokctl.cli.invocation import Invocation
from kwokctl.cli.output import results

if TYPE_CHECKING:
    from kwokctl.clusters.faults.schedule_reports import ScheduleReport

_COLUMNS = ("NAME", "PHASE", "PLANNED", "INJECTED", "SUPPRESSED", "LATE", "LEFT", "MESSAGE")


def show_schedules(call: Invocation, names: Sequence[str], output: str) -> None:
    """Print the schedules of a cluster, or those that are named."""
    from kwokctl.clusters.faults.schedule_reports import schedule_reports

    wall = time.time  # noqa: TID251 - the clock itself: it is passed on from here
    found = call.run(schedule_reports, call.home, call.cluster, names, wall)
    if output in ("json", "yaml"):
        results.emit_data(found, output)
    elif output == "name":
        results.emit("\n".join(each.name for each in found))
    else:
        results.emit_table([*_COLUMNS, *_more(output)], [_row(each, output) for each in found])


def _more(output: str) -> tuple[str, ...]:
    return ("NODES", "SEED", "LATEST", "STARTED") if output == "wide" else ()


def _row(each: "ScheduleReport", output: str) -> list[str]:
    reasons = ", ".join(f"{name} {number}" for name, number in each.suppressed_by.items())
    suppressed = f"{each.suppressed} ({reasons})" if reasons else str(each.suppressed)
    row = [
        each.name, each.phase, str(each.planned), str(each.injected), suppressed, str(each.late), each.left,
        each.message,
    ]  # fmt: skip
    if output == "wide":
        row += [str(each.nodes), str(each.seed), f"{each.latest:g}s", each.started]
    return row
