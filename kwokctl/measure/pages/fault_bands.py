"""The Faults of a run as bands through all charts. Pure."""

from kwokctl.measure.histories.fault_history import FaultRecord
from kwokctl.measure.histories.history import History
from kwokctl.measure.pages.page_data import PageBand
from kwokctl.measure.record.run_clock import SECOND

MOST_BANDS = 200
_SINCE = 3
"""The version of the record since which it has Faults."""


def fault_bands(history: History) -> tuple[list[PageBand], str]:
    """Return a band for each Fault that was open, and why some are not there: only the first `MOST_BANDS` are."""
    found = sorted(_open(history), key=lambda fault: fault.began or 0)
    left_out = len(found) - MOST_BANDS
    note = f"{left_out:,} later Faults are not drawn" if left_out > 0 else _unknown(history)
    return [_band(history, fault) for fault in found[:MOST_BANDS]], note


def _unknown(history: History) -> str:
    """Return why it is not known which Faults there were; empty if it is."""
    header = history.header
    if header.version < _SINCE:
        return f"a record of version {header.version} has no Faults"
    why = header.missing.get("faults")
    return f"Faults are not shown: {why}" if why else ""


def _open(history: History) -> list[FaultRecord]:
    """Return the Faults that were open at any time of the run."""
    return [
        fault
        for fault in history.faults.faults.values()
        if fault.began is not None and (fault.ended is None or fault.ended >= history.begin)
    ]


def _band(history: History, fault: FaultRecord) -> PageBand:
    begin = history.begin
    assert fault.began is not None
    ended = None if fault.ended is None else round((fault.ended - begin) / SECOND, 3)
    unit = "unit" if fault.units == 1 else "units"
    return PageBand(
        name=f"{fault.fault_class}, {fault.units:,} {unit} ({fault.name})",
        start=max(0.0, round((fault.began - begin) / SECOND, 3)),
        end=ended,
    )
