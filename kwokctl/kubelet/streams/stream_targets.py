"""Finds the pod and container of a path of the kubelet."""

from collections.abc import Mapping

import msgspec

from kwokctl.embedded.http.messages import RefusedError, Request
from kwokctl.kubelet.fleet.views import ContainerView, PodFinder, PodView


class ContainerTarget(msgspec.Struct, frozen=True):
    """A container of a pod on a fake node."""

    pod: PodView
    container: ContainerView

    def __str__(self) -> str:
        return f"container '{self.container.name}' of pod '{self.pod.namespace}/{self.pod.name}'"


async def find_pod(request: Request, fleet: PodFinder) -> PodView:
    """Return the pod of `/…/{namespace}/{pod}`, with its uid behind it or not.

    Raises RefusedError if the path names none.
    """
    match request.segments:
        case (_, namespace, name):
            return await _pod(fleet, namespace, name, uid="")
        case (_, namespace, name, uid):
            return await _pod(fleet, namespace, name, uid)
        case _:
            raise RefusedError(404, "the path names no pod")


async def find_container(request: Request, fleet: PodFinder) -> ContainerTarget:
    """Return the container of `/…/{namespace}/{pod}/{container}`, with the pod's uid or without.

    Raises RefusedError if the path names none.
    """
    match request.segments:
        case (_, namespace, name, container):
            pod = await _pod(fleet, namespace, name, uid="")
        case (_, namespace, name, uid, container):
            pod = await _pod(fleet, namespace, name, uid)
        case _:
            raise RefusedError(404, "the path names no container")
    view = pod.container(container)
    if view is None:
        where = f"of pod '{pod.namespace}/{pod.name}'"
        raise RefusedError(404, f"there is no container '{container}' {where}")
    return ContainerTarget(pod, view)


async def _pod(fleet: PodFinder, namespace: str, name: str, uid: str) -> PodView:
    pod = await fleet.pod(namespace, name)
    if pod is None or uid not in {"", pod.uid}:
        raise RefusedError(404, f"there is no pod '{namespace}/{name}' on a fake node")
    return pod


def pod_environment(pod: PodView) -> Mapping[str, str]:
    """Return the variables that tell a program which serves many pods for which one it runs."""
    return {
        "HOSTNAME": pod.name,
        "NODE_NAME": pod.node,
        "POD_NAME": pod.name,
        "POD_NAMESPACE": pod.namespace,
        "POD_UID": pod.uid,
    }
