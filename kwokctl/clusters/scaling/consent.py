"""What a user is shown and asked before a set changes: objects that keep their parameters, and many deletions."""

from kwokctl.clusters.scaling.changes import Changes
from kwokctl.clusters.scaling.context import amount
from kwokctl.clusters.scaling.request import ScaleRequest
from kwokctl.kube.resource import Resource
from kwokctl.progress import Progress

_LARGE = 10
"""Objects; it is asked before more than half of a larger set is deleted."""


def remark_parameters(
    request: ScaleRequest, changes: Changes, resource: Resource, progress: Progress
) -> None:
    """Say which objects do not get the parameters that were given."""
    if not request.params or not changes.kept:
        return
    kept, name = amount(len(changes.kept), resource), request.set_name
    progress.note(
        f"--param is for new objects only: the {kept} that '{name}' has already "
        f"{'stays' if len(changes.kept) == 1 else 'stay'} as they are; to make all anew, scale to 0 first"
    )


async def is_agreed(request: ScaleRequest, changes: Changes, resource: Resource) -> bool:
    """Ask before more than half of a set that is not small is deleted."""
    members, surplus = changes.members, len(changes.surplus)
    if members <= _LARGE or 2 * surplus <= members:
        return True
    whole = amount(members, resource)
    which = f"all {whole}" if surplus == members else f"{surplus:,} of the {whole}"
    return await request.confirm(f"Delete {which} of the set '{request.set_name}'?")
