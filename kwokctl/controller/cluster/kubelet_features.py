"""Finds what nodes declare of their kubelet: what the API server and the scheduler want to know.

With `ExtendWebSocketsToKubelet`, from Kubernetes 1.36 on, the API server passes WebSocket on to nodes that
declare it, and speaks SPDY to others. Pods with a rule that restarts the whole pod are bound to nodes only that
declare `RestartAllContainersOnContainerExits`. Where a gate is off the API server would not have stored it.
"""

import logging
from random import Random

from kwokctl.controller.stages.stage_functions import Kubelet
from kwokctl.errors import ApiError
from kwokctl.kube.collections.server_metrics import gates_that_are_on
from kwokctl.kube.transport.pool import Pool
from kwokctl.replacing import replace
from kwokctl.retry import may_pass, until_answered

log = logging.getLogger(__name__)

_FIELD = "NodeDeclaredFeatures"
"""The gate of the field in the node's status."""
_KNOWN = ("ExtendWebSocketsToKubelet", "RestartAllContainersOnContainerExits")
"""The feature gates that fake kubelets support, sorted as the API server demands."""


async def with_features(kubelet: Kubelet, pool: Pool, random: Random) -> Kubelet:
    """Return the kubelet with what its nodes declare; waits until the cluster answers."""
    if not kubelet.address:  # the kubelet server does not serve its nodes
        return kubelet
    gates = await until_answered(lambda: _gates(pool), random)
    declared = tuple(name for name in _KNOWN if {_FIELD, name} <= gates)
    return replace(kubelet, features=declared)


async def _gates(pool: Pool) -> frozenset[str]:
    try:
        return await gates_that_are_on(pool)
    except ApiError as e:
        if may_pass(e):
            raise
        log.warning("nodes declare no features, because the API server's are not known: %s", e)
        return frozenset()
