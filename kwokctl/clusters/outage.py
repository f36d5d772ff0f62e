"""Says which components of a cluster do not run when it does not answer."""

from kwokctl.clusters.home import Home
from kwokctl.clusters.status import Status, component_statuses
from kwokctl.errors import UnavailableError
from kwokctl.model import ClusterName


async def outage(home: Home, name: ClusterName) -> UnavailableError | None:
    """Return what is wrong with a cluster of kwokctl's own; None if all its components run."""
    found = await component_statuses(home, name)
    down = [f"'{component.name}'" for component in found if component.status is Status.STOPPED]
    if not down:
        return None
    what = f"the cluster '{name}' is stopped"
    if len(down) < len(found):
        verb = "does" if len(down) == 1 else "do"
        what = f"{' and '.join(down)} of the cluster '{name}' {verb} not run"
    return UnavailableError(what, hint=f"start it with: kwokctl start cluster --name {name}")
