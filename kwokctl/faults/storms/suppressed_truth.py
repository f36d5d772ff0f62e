"""The line of the log about a planned fault that was suppressed. Pure."""

from kwokctl.faults.storms.plan_pages import SuppressedFault
from kwokctl.faults.storms.storm_faults import fault_name
from kwokctl.faults.truth.fault_truth import TruthEntry

_GPU = "/gpu-"


def suppressed_entry(schedule: str, fault: SuppressedFault) -> TruthEntry:
    """Return the line; `node` is the unit of the plan, without its GPU, and `signal` the reason."""
    node, _, gpu = fault.unit.partition(_GPU)
    return TruthEntry(
        t=0.0,
        wall=fault.wall,
        fault=fault_name(schedule, fault.number),
        uid="",
        class_name=fault.class_name,
        phase="suppressed",
        node=node,
        gpu=int(gpu) if gpu else None,
        signal=fault.reason,
    )
