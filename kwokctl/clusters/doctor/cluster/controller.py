"""Whether the controller plays Stages, and in time."""

from kwokctl.clusters.doctor.check import Check, Report, found
from kwokctl.clusters.doctor.cluster.checked_cluster import CheckedCluster
from kwokctl.clusters.overview.problems import of_controller
from kwokctl.model import KWOK_CONTROLLER


async def look(checked: CheckedCluster) -> Report:
    """Report what the controller says of itself."""
    seen = checked.seen.controller
    state = f"{len(seen.stages)} Stages in force" if seen else "it does not answer"
    if seen and seen.watch_delay is not None:
        state += f", {seen.watch_delay:.2f} s behind the writes"
    return Report(state=state, findings=tuple(found(each) for each in of_controller(checked.seen)))


CHECK = Check(
    name="controller", looks_at="its Stages and its delay", look=look, needs=(KWOK_CONTROLLER,)
)
