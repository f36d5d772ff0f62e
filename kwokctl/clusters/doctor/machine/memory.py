"""Whether an empty cluster has the memory that its programs need."""

from kwokctl.clusters import capacity
from kwokctl.clusters.doctor.check import Check, DoctorFinding, Report
from kwokctl.clusters.doctor.machine.checked_machine import Machine
from kwokctl.components.heartbeat import heartbeat
from kwokctl.config.quantity import to_text
from kwokctl.host.memory import available_memory, is_limited, machine_memory


async def look(machine: Machine) -> Report:
    """Compare the memory that programs may take now with what an empty cluster needs."""
    whole, free = machine_memory(machine.root), available_memory(machine.root)
    empty = capacity.Fleet(nodes=0, pods=0)
    needed = capacity.estimate(empty, heartbeat=heartbeat(machine.options), quota=1 << 30).memory
    findings = []
    if free and free < needed:
        what = (
            f"{to_text(free)} of memory are available, and an empty cluster needs {to_text(needed)}"
        )
        findings.append(DoctorFinding(what=what, remedy=_remedy(machine)))
    return Report(state=f"{to_text(free)} of {to_text(whole)} available", findings=tuple(findings))


def _remedy(machine: Machine) -> str:
    ends = "end other programs, or stop other clusters"
    if not is_limited(machine.root):
        return ends
    return (
        "raise the memory limit of the container (--memory) or of the session or service (MemoryMax), "
        f"{ends}"
    )


CHECK = Check(name="memory", looks_at="the memory that programs may take", look=look)
