"""Whether other programs have the ports of components that do not run."""

from collections.abc import Iterator

from kwokctl.clusters.doctor.check import Check, DoctorFinding, Report
from kwokctl.clusters.doctor.cluster.checked_cluster import CheckedCluster
from kwokctl.clusters.launching.ports import portless
from kwokctl.errors import ConflictError
from kwokctl.host.ports import check_unused
from kwokctl.model import Component


async def look(checked: CheckedCluster) -> Report:
    """Try the ports of each component that does not listen on them itself."""
    plan = checked.saved.plan(checked.runtime, checked.paths)
    idle = await portless(checked.runtime, checked.name, list(plan.components))
    findings = [each for name in idle for each in _taken(checked, plan.components[name])]
    count = sum(port.host_port > 0 for each in plan.components.values() for port in each.ports)
    return Report(state=f"{count - len(findings)} of {count} are its own", findings=tuple(findings))


def _taken(checked: CheckedCluster, component: Component) -> Iterator[DoctorFinding]:
    for port in component.ports:
        if port.host_port:
            try:
                check_unused(component.name, port.host_address, port.host_port)
            except ConflictError as e:
                remedy = f"end the program that uses it, then {checked.command} start cluster"
                yield DoctorFinding(what=str(e), remedy=remedy)


CHECK = Check(name="ports", looks_at="the ports of components that do not run", look=look)
