"""Asks the user before a set changes: about new parameters, and about many deletions."""

from collections.abc import Iterator, Sequence

from kwokctl.clusters.scaling.changes import Changes, Serials
from kwokctl.clusters.scaling.context import amount
from kwokctl.clusters.scaling.objects.parameters import SetParameters, as_options
from kwokctl.clusters.scaling.scale_request import ScaleRequest
from kwokctl.kube.resource import Resource
from kwokctl.progress import Progress

_LARGE = 10
"""Objects; it is asked before more than half of a larger set is deleted."""


def remark_parameters(
    request: ScaleRequest,
    parameters: SetParameters,
    changes: Changes,
    resource: Resource,
    progress: Progress,
) -> None:
    """Say with what new objects are made, where that is not what the command alone says."""
    if changes.missing:
        for remark in _remarks(request, parameters, changes.missing):
            progress.note(remark)
    known = parameters.known
    if request.params in {(), known} or not changes.kept:
        return
    kept = amount(len(changes.kept), resource)
    made = f", the last made with {as_options(known)}" if known else ""
    progress.note(
        f"--param is for new objects only: the {kept} that '{request.set_name}' has already "
        f"{'stays' if len(changes.kept) == 1 else 'stay'} as they are{made}; to create all of them again, scale to 0 first"
    )


def _remarks(request: ScaleRequest, parameters: SetParameters, missing: Serials) -> Iterator[str]:
    name, former = request.set_name, parameters.former(missing)
    is_all = sum(map(len, former.values())) == len(missing)
    if parameters.known and not request.params and not is_all:
        yield f"'{name}' is made with {as_options(parameters.known)}, as it was before"
    for params, numbers in former.items():
        words = as_options(params) or "the template's own parameters"
        yield f"{_named(request, numbers)} made with {words}, as before"
    for template, numbers in parameters.other_templates(missing).items():
        yield (
            f"{_named(request, numbers)} made of '{request.kind}' though it was of '{template}' before: "
            f"'kwokctl scale {template} {name}' makes new ones of that template"
        )
    if parameters.is_another_document:
        yield (
            f"the template '{request.kind}' is not the one that '{name}' was made of: new objects "
            "differ from those before"
        )


def _named(request: ScaleRequest, numbers: Sequence[int]) -> str:
    first = f"'{request.object_name(min(numbers))}'"
    return f"{first} is" if len(numbers) == 1 else f"{first} and {len(numbers) - 1:,} more are"


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
