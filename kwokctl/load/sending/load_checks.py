"""Checks before a load begins: kinds, namespaces and rights. Nothing is changed."""

from kwokctl.clusters.objects.wait import ObjectWait
from kwokctl.errors import ApiError, ExpressionError, KwokctlError, NotFoundError, UsageError
from kwokctl.kube.client import Client
from kwokctl.kube.collections.paging import ListQuery
from kwokctl.kube.resource import NAMESPACES
from kwokctl.load.acts.act import Act, Data
from kwokctl.load.acts.create import CreateAct
from kwokctl.load.client.load_rights import Right, lacks
from kwokctl.load.client.load_selectors import problem_of
from kwokctl.load.client.sender import LoadSender
from kwokctl.load.description.schema import WaitShape
from kwokctl.load.load_documents import Load
from kwokctl.load.sending.endings import ending_kinds
from kwokctl.replacing import replace


async def check(load: Load, sender: LoadSender, act: Act, data: Data) -> None:
    """Raise ConfigError, with the place, for what would be refused; errors of the cluster as they are."""
    rights = await act.rights(data)
    rights += _of_ends(load, rights)
    await _check_namespaces(load, sender.client, rights)
    await _check_rights(load, sender.client, rights, f"spec.{load.spec.act}")
    _check_end(load, act, rights)
    await _check_wait(load, sender)


def wanted(shape: WaitShape) -> ObjectWait:
    """Return what is waited for; UsageError for a condition that says nothing."""
    return ObjectWait(
        what=shape.what,
        condition=shape.condition,
        namespace=shape.namespace or None,
        selector=shape.selector,
        count=shape.count,
    )


async def _check_wait(load: Load, sender: LoadSender) -> None:
    """Raise ConfigError for a wait that cannot end."""
    shape = load.spec.wait_for
    if shape is None:
        return
    try:
        wait = wanted(shape)
        resource = await sender.finder.find(wait.kind)
    except (NotFoundError, UsageError, ExpressionError) as e:
        raise load.document.fault("spec.waitFor", f"is wrong: {e}", hint=e.hint) from e
    within = wait.namespace if resource.namespaced else None
    rights = [Right(verb, resource, within or "") for verb in ("list", "watch")]
    await _check_rights(load, sender.client, rights, "spec.waitFor")
    query = ListQuery(resource=resource, namespace=within, label_selector=shape.selector)
    if problem := await problem_of(sender.client.pool, query):
        raise load.document.fault("spec.waitFor.selector", f"is wrong: {problem}")


async def _check_rights(load: Load, client: Client, rights: list[Right], place: str) -> None:
    """Raise ConfigError for the first right that the user lacks."""
    for right in dict.fromkeys(rights):
        if await lacks(client, right):
            who = f"'{load.spec.as_user}'" if load.spec.as_user else "this user"
            raise load.document.fault(place, f"needs a right that {who} lacks: {right}")


def _of_ends(load: Load, rights: list[Right]) -> list[Right]:
    """Return the rights to see when what is created has ended, and to delete it then."""
    spec = load.spec
    verbs = ["list", "watch"] if spec.delete_when_done or spec.arrivals.concurrency else []
    verbs += ["delete"] if spec.delete_when_done or spec.ttl else []
    created = [right for right in rights if right.verb == "create" and spec.act == "create"]
    return [replace(right, verb=verb) for right in created for verb in verbs]


async def _check_namespaces(load: Load, client: Client, rights: list[Right]) -> None:
    """Raise ConfigError for a namespace that neither exists nor is made by the load."""
    if any(right.resource == NAMESPACES for right in rights):
        return
    for namespace in dict.fromkeys(right.namespace for right in rights if right.namespace):
        try:
            exists = await client.find(NAMESPACES, None, namespace) is not None
        except ApiError as e:
            if e.status != 403:
                raise
            continue
        if not exists:
            raise load.document.fault(
                f"spec.{load.spec.act}",
                f"is for the namespace '{namespace}', which does not exist",
                hint=f"make it first: kubectl create namespace {namespace}",
            )


def _check_end(load: Load, act: Act, rights: list[Right]) -> None:
    """Raise ConfigError for arrivals that are waited for, and do not end."""
    spec = load.spec
    waits = spec.delete_when_done or (spec.arrivals.concurrency is not None and spec.ttl is None)
    try:
        kinds = ending_kinds(spec.done)
    except KwokctlError as e:
        raise load.document.fault("spec.done", f"is wrong: {e}", hint=e.hint) from e
    if waits and isinstance(act, CreateAct) and not any(r.resource.kind in kinds for r in rights):
        field = "spec.deleteWhenDone" if spec.delete_when_done else "spec.arrivals.concurrency"
        raise load.document.fault(
            field,
            "waits for objects that have no end",
            hint="give 'ttl', or say in 'done' when they end",
        )
