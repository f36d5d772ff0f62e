"""Reads which feature gates of an API server are on.

It counts them in `kubernetes_feature_enabled` from Kubernetes 1.26 on
(https://kubernetes.io/docs/reference/instrumentation/metrics/). A version says less: gates can be set.
"""

import re

from kwokctl.kube.transport.pool import Pool
from kwokctl.kube.transport.status import refusal

_ON = re.compile(rb'^kubernetes_feature_enabled\{name="(\w+)"[^}]*\} 1$', re.MULTILINE)


async def gates_that_are_on(pool: Pool) -> frozenset[str]:
    """Return the names of the gates; ApiError if the API server does not report its metrics."""
    response = await pool.request("GET", "/metrics", accept="text/plain")
    if response.status != 200:
        raise refusal(response.status, response.body)
    return frozenset(name.decode() for name in _ON.findall(response.body))
