"""Whether other programs have the ports of components that do not run."""

from collections.abc import Iterator

from kwokctl.clusters.doctor.check import Check, DoctorFinding, Report
from kwokctl.clusters.doctor.cluster.patient import Patient
from kwokctl.clusters.launching.ports import portless
from kwokctl.errors import ConflictError
from kwokctl.host.ports import check_unused
from kwokctl.model import Component


async def look(patient: Patient) -> Report:
    """Try the ports of each component that does not listen on them itself."""
    plan = patient.saved.plan(patient.runtime, patient.paths)
    idle = await portless(patient.runtime, patient.name, list(plan.components))
    findings = [each for name in idle for each in _taken(patient, plan.components[name])]
    count = sum(port.host_port > 0 for each in plan.components.values() for port in each.ports)
    return Report(state=f"{count - len(findings)} of {count} are its own", findings=tuple(findings))


def _taken(patient: Patient, component: Component) -> Iterator[DoctorFinding]:
    for port in component.ports:
        if port.host_port:
            try:
                check_unused(component.name, port.host_address, port.host_port)
            except ConflictError as e:
                remedy = f"end the program that uses it, then {patient.command} start cluster"
                yield DoctorFinding(what=str(e), remedy=remedy)


CHECK = Check(name="ports", looks_at="the ports of components that do not run", look=look)
