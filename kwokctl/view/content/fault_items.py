"""The items about Faults, and the bands that show their times in all charts."""

from kwokctl.measure.pages.page_data import PageBand, TableItem
from kwokctl.view.content.items import table_item
from kwokctl.view.state.seen_faults import SeenFaults

_COLUMNS = ("Fault", "Class", "Phase", ">Units", ">Landed", ">Failed", "Made", "Message")
_FAULTS = 100


def faults_item(faults: SeenFaults) -> TableItem:
    """Return the open Faults."""
    open_ones = sorted(faults.open.values(), key=lambda each: each.created, reverse=True)
    rows = [
        (
            each.name, each.class_name, each.phase, f"{each.units:,}", f"{each.landed:,}",
            f"{each.failed:,}", each.created, each.message,
        )
        for each in open_ones[:_FAULTS]
    ]  # fmt: skip
    more = len(open_ones) - len(rows)
    note = f"{more:,} more are not listed." if more else ""
    if not rows:
        note = faults.problem or "No fault is open."
    return table_item("faults", "Open faults", _COLUMNS, rows, note=note)


def fault_bands(faults: SeenFaults) -> list[PageBand]:
    """Return the times at which Faults were open."""
    return [
        PageBand(name=f"{each.name} ({each.class_name})", start=each.start, end=each.end)
        for each in faults.periods()
    ]
