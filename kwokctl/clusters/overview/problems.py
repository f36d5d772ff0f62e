"""Finds what is wrong in the figures of a cluster, with the remedy for each. Pure."""

from collections.abc import Iterator

from kwokctl import __version__
from kwokctl.clusters.capacity import FULL
from kwokctl.clusters.overview.figures import Overview, Problem
from kwokctl.clusters.status import ComponentStatus, RunStatus
from kwokctl.config.quantity import to_text
from kwokctl.model import KUBE_APISERVER, KWOK_CONTROLLER

_LATE = 2.0
"""Seconds that a watch may be behind."""
_PENDING = "Pending"


def find_problems(seen: Overview) -> Iterator[Problem]:
    """Yield what is wrong, the causes before what follows from them."""
    if seen.status is RunStatus.STOPPED:
        yield Problem(what="the cluster is stopped", remedy=f"{_command(seen)} start cluster")
        return
    yield from of_components(seen)
    yield from of_etcd(seen)
    yield from of_controller(seen)
    yield from of_nodes(seen)
    yield from of_pods(seen)


def of_components(seen: Overview) -> Iterator[Problem]:
    """Yield those of components that do not run, or are not ready."""
    for component in seen.components:
        if component.status is not RunStatus.READY:
            yield _of_component(component, _command(seen))


def _of_component(component: ComponentStatus, command: str) -> Problem:
    if component.status is RunStatus.STOPPED:
        return Problem(
            what=f"'{component.name}' does not run",
            remedy=f"{command} start cluster; its log: {command} logs {component.name}",
        )
    return Problem(
        what=f"'{component.name}' runs, but is not ready",
        remedy=f"{command} logs {component.name} --tail 20",
    )


def of_etcd(seen: Overview) -> Iterator[Problem]:
    """Yield what keeps etcd from taking much more."""
    store = seen.etcd
    if store is None or not store.quota or store.size <= FULL * store.quota:
        return
    full = f"etcd's file of {to_text(store.size)} is {store.size / store.quota:.0%} of its quota"
    if store.in_use <= FULL * store.quota:
        yield Problem(
            what=f"{full}, though only {to_text(store.in_use)} are in use",
            remedy=f"{_command(seen)} doctor --fix",
        )
        return
    yield Problem(what=full, remedy=f"delete objects, then {_command(seen)} doctor --fix")


def of_controller(seen: Overview) -> Iterator[Problem]:
    """Yield what keeps the controller from doing its work in time."""
    ready = {c.name for c in seen.components if c.status is RunStatus.READY}
    if KWOK_CONTROLLER not in ready:
        return
    if seen.controller is None:
        yield Problem(
            what="the controller does not report its Stages",
            remedy=f"{_command(seen)} logs {KWOK_CONTROLLER} --tail 20",
        )
        return
    if seen.controller.version not in ("", __version__):
        yield Problem(
            what=f"the controller is still that of kwokctl {seen.controller.version}, and this is {__version__}",
            remedy=f"{_command(seen)} stop cluster, then {_command(seen)} start cluster",
        )
    if (delay := seen.controller.watch_delay or 0) > _LATE:
        yield Problem(what=f"the controller sees changes {delay:.1f} s late", remedy=_why(seen))


def _why(seen: Overview) -> str:
    unready = {c.name for c in seen.components if c.status is not RunStatus.READY}
    if KUBE_APISERVER in unready:
        return f"'{KUBE_APISERVER}' is not ready: fix that first"
    return "the machine is busy: wait, or scale in smaller steps"


def of_nodes(seen: Overview) -> Iterator[Problem]:
    """Yield that nodes are not Ready."""
    nodes = seen.nodes
    if nodes is not None and (late := nodes.total - nodes.ready):
        yield Problem(
            what=f"{counted(late, 'node')} not Ready, such as '{nodes.not_ready}'",
            remedy=f"{_command(seen)} stage explain node/{nodes.not_ready}",
        )


def of_pods(seen: Overview) -> Iterator[Problem]:
    """Yield that pods wait."""
    pods = seen.pods
    if pods is not None and (waiting := pods.by_status.get(_PENDING, 0)):
        yield Problem(
            what=f"{counted(waiting, 'pod')} Pending",
            remedy=f"{_command(seen)} kubectl get events --field-selector reason=FailedScheduling",
        )


def _command(seen: Overview) -> str:
    return f"kwokctl --name {seen.name}"


def counted(number: int, noun: str) -> str:
    """Write how many there are, with the verb."""
    return f"{number:,} {noun} is" if number == 1 else f"{number:,} {noun}s are"
