"""Asks the user before a set changes: about new parameters, and about many deletions."""

from kwokctl.clusters.scaling.changes import Changes
from kwokctl.clusters.scaling.context import amount
from kwokctl.clusters.scaling.objects.parameters import as_options
from kwokctl.clusters.scaling.scale_request import ScaleRequest
from kwokctl.kube.resource import Resource
from kwokctl.progress import Progress

_LARGE = 10
"""Objects; it is asked before more than half of a larger set is deleted."""


def remark_parameters(
    request: ScaleRequest,
    known: tuple[str, ...],
    changes: Changes,
    resource: Resource,
    progress: Progress,
) -> None:
    """Say which objects do not get the parameters that were given, or that new ones get those `known`."""
    name = request.set_name
    if known and not request.params and changes.missing:
        progress.note(f"'{name}' is made with {as_options(known)}, as it was before")
    if request.params in {(), known} or not changes.kept:
        return
    kept = amount(len(changes.kept), resource)
    progress.note(
        f"--param is for new objects only: the {kept} that '{name}' has already "
        f"{'stays' if len(changes.kept) == 1 else 'stay'} as they are; to create all of them again, scale to 0 first"
    )


async def is_agreed(
    request: ScaleRequest, known: tuple[str, ...], changes: Changes, resource: Resource
) -> bool:
    """Ask before a set gets objects of two kinds, and before more than half of one that is not small is deleted."""
    if known and request.params not in {(), known} and changes.kept and changes.missing:
        return await request.confirm(
            f"Make {amount(len(changes.missing), resource, more=True)} with {as_options(request.params)}? "
            f"'{request.set_name}' was made with {as_options(known)} so far."
        )
    return await _is_deletion_agreed(request, changes, resource)


async def _is_deletion_agreed(request: ScaleRequest, changes: Changes, resource: Resource) -> bool:
    members, surplus = changes.members, len(changes.surplus)
    if members <= _LARGE or 2 * surplus <= members:
        return True
    whole = amount(members, resource)
    which = f"all {whole}" if surplus == members else f"{surplus:,} of the {whole}"
    return await request.confirm(f"Delete {which} of the set '{request.set_name}'?")
