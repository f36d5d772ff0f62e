"""The pod that the node's kubelet runs of a component which kubeadm does not make. Pure.

Its form is that of https://kubernetes.io/docs/tasks/configure-pod-container/static-pod/.
"""

from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from kwokctl.json_value import Json
from kwokctl.model import Component, HttpProbe
from kwokctl.runtime import HOST
from runtimes.kind.pods.pod_settings import PodSettings, resources, sight, volumes

_CRITICAL = {"priorityClassName": "system-node-critical", "priority": 2000001000}
"""As the pods of kubeadm are: the kubelet ends others first when the node is short of something."""
_PROBED_EVERY = 5
"""Seconds."""


def static_pod(component: Component, *, image: str, settings: PodSettings) -> dict[str, object]:
    """Describe a component's pod."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": component.name,
            "namespace": "kube-system",
            "labels": {"component": component.name, "tier": "control-plane"},
        },
        "spec": {
            "containers": [_container(component, image)],
            "volumes": volumes(component, settings.root),
            "securityContext": {
                **_ids(component, settings),
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            "hostNetwork": True,
            # The kernel lets the first process of a container ignore the signals that it sends
            # itself; so the pod's own comes first.
            "shareProcessNamespace": True,
            "restartPolicy": "Always" if settings.revive else "Never",
            "terminationGracePeriodSeconds": settings.patience,
            "automountServiceAccountToken": False,
            **_CRITICAL,
        },
    }


def knowing(pod: Mapping[str, Json], host: str) -> Mapping[str, Json]:
    """Return the pod with the host's name in its `hostAliases`, unless the host's address is unknown.

    It is known only once there is a node, and an engine may change it.
    """
    if not host:
        return pod
    return {**pod, "spec": {**pod["spec"], "hostAliases": [{"ip": host, "hostnames": [HOST]}]}}


def _container(component: Component, image: str) -> dict[str, object]:
    return {
        "name": component.name,
        "image": image,
        # It has been loaded into the node: it is never pulled.
        "imagePullPolicy": "Never",
        **_words(component),
        **sight(component),
        "ports": [{"name": port.name, "containerPort": port.port} for port in component.ports],
        "securityContext": {"allowPrivilegeEscalation": False, **_guard(component)},
        **_probe(component),
        **resources(component.limits),
    }


def _words(component: Component) -> dict[str, Json]:
    """Return what is run: for an image of the user's own what they or the image say."""
    command = [component.name, *component.artifact.command[1:]]  # on the PATH of all other images
    if component.own and component.artifact.image:
        command = list(component.own.entry)
    words = {"command": command, "args": list(component.args)}
    return {name: value for name, value in words.items() if value}


def _ids(component: Component, settings: PodSettings) -> dict[str, Json]:
    """Return as whom it runs; of an image of the user's own that says it itself nothing."""
    own = component.own
    if own and (own.user or component.artifact.image):
        given = zip(("runAsUser", "runAsGroup"), filter(None, own.user.split(":")), strict=False)
        return {name: int(number) for name, number in given}
    return {"runAsUser": settings.user, "runAsGroup": settings.group}


def _guard(component: Component) -> dict[str, Json]:
    """Take from a component what it does not need; of one of the user's own that is not known."""
    if component.own:
        return {}
    # It is a server that reads files of kwokctl, and needs no privileges of root.
    return {"readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}


def _probe(component: Component) -> dict[str, object]:
    """Let the kubelet ask for readiness as we do, where it can be asked without a certificate."""
    found = next((p for each in component.ready for p in _asked_inside(component, each)), None)
    if found is None:
        return {}
    return {"readinessProbe": {"httpGet": found, "periodSeconds": _PROBED_EVERY}}


def _asked_inside(component: Component, probe: HttpProbe) -> Iterator[dict[str, object]]:
    """Yield the probe as it is asked inside the node; nothing if it cannot be."""
    url = urlsplit(probe.url)
    if probe.cert or probe.socket:
        return
    for port in component.ports:
        if port.host_port == url.port:
            path = f"{url.path}?{url.query}" if url.query else url.path
            yield {"scheme": url.scheme.upper(), "path": path or "/", "port": port.port}
