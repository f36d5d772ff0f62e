"""Finds what the API server lets kubelets say: what nodes declare of theirs, and what pods say of their devices.

With `ExtendWebSocketsToKubelet`, from Kubernetes 1.36 on, the API server passes WebSocket on to nodes that
declare it, and speaks SPDY to others. Pods with a rule that restarts the whole pod are bound to nodes only that
declare `RestartAllContainersOnContainerExits`. Where a gate is off the API server would not have stored it.
"""

import logging
from random import Random
from typing import NamedTuple

from kwokctl.controller.stages.stage_functions import Kubelet
from kwokctl.errors import ApiError
from kwokctl.kube.collections.server_metrics import gates_that_are_on
from kwokctl.kube.transport.pool import Pool
from kwokctl.replacing import replace
from kwokctl.retry import may_pass, until_answered

log = logging.getLogger(__name__)

_FIELD = "NodeDeclaredFeatures"
"""The gate of the field in the node's status."""
_DEVICES = "ResourceHealthStatus"
"""The gate of the devices in the statuses of containers: without it the API server drops them."""
_KNOWN = ("ExtendWebSocketsToKubelet", "RestartAllContainersOnContainerExits")
"""The feature gates that fake kubelets support, sorted as the API server demands."""


class KubeletFeatures(NamedTuple):
    """The features of fake kubelets that the API server lets them have."""

    gates: frozenset[str]
    """The feature gates of the API server that are on."""

    @property
    def shows_devices(self) -> bool:
        """Whether the API server keeps the devices in the statuses of containers."""
        return _DEVICES in self.gates

    def declared_by(self, kubelet: Kubelet) -> Kubelet:
        """Return the kubelet with what its nodes declare."""
        if not kubelet.address:  # the kubelet server does not serve its nodes
            return kubelet
        declared = tuple(name for name in _KNOWN if {_FIELD, name} <= self.gates)
        return replace(kubelet, features=declared)


async def kubelet_features(pool: Pool, random: Random) -> KubeletFeatures:
    """Return what the API server allows; waits until it answers."""
    return KubeletFeatures(await until_answered(lambda: _gates(pool), random))


async def _gates(pool: Pool) -> frozenset[str]:
    try:
        return await gates_that_are_on(pool)
    except ApiError as e:
        if may_pass(e):
            raise
        log.warning(
            "nodes declare no features, and annotations name the devices of pods, because the API "
            "server's features are not known: %s", e,
        )  # fmt: skip
        return frozenset()
