"""Checks that components run and are ready."""

from functools import partial

from kwokctl.clusters.doctor.check import Check, DoctorFinding, Repair, Report, found
from kwokctl.clusters.doctor.cluster.checked_cluster import CheckedCluster
from kwokctl.clusters.launching.causes import cause_in
from kwokctl.clusters.overview.figures import Problem
from kwokctl.clusters.overview.problems import of_components
from kwokctl.clusters.start import start_cluster
from kwokctl.clusters.status import ComponentStatus, RunStatus
from kwokctl.waits import USUAL


async def look(checked: CheckedCluster) -> Report:
    """Report each; those that do not run are started by the repair."""
    components = checked.seen.components
    ready = sum(each.status is RunStatus.READY for each in components)
    state = f"{ready} of {len(components)} ready"
    if checked.seen.status is RunStatus.STOPPED and checked.is_stopped_by_user:
        return Report(state=f"stopped; '{checked.command} start cluster' starts it")
    late = [each for each in components if each.status is not RunStatus.READY]
    pairs = zip(late, of_components(checked.seen), strict=True)
    return Report(state=state, findings=tuple(_finding(checked, *pair) for pair in pairs))


def _finding(
    checked: CheckedCluster, component: ComponentStatus, problem: Problem
) -> DoctorFinding:
    if component.status is not RunStatus.STOPPED:
        return found(problem)
    start = partial(start_cluster, checked.home, checked.name, wait=USUAL)
    repair = Repair(what=f"Starting the stopped components of '{checked.name}'", do=start)
    cause = cause_in(component.message.splitlines(), folder=str(checked.paths.root))
    if cause is None:
        return found(problem, repair)
    return DoctorFinding(
        what=f"{problem.what}: {cause.what}",
        remedy=f"{cause.remedy}; then {problem.remedy}",
        repair=None if cause.is_of_disk else repair,
    )


CHECK = Check(name="components", looks_at="whether they run and are ready", look=look)
