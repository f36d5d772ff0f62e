"""Reads what components have written."""

from collections.abc import AsyncIterator

from kwokctl.clusters.home import Home
from kwokctl.clusters.saved import load
from kwokctl.errors import NotFoundError
from kwokctl.model import ClusterName, ComponentName

AUDIT = "audit"


async def component_logs(
    home: Home, name: ClusterName, component: str, *, follow: bool
) -> AsyncIterator[bytes]:
    """Yield a component's log, oldest first, or the audit log; raise NotFoundError if there is none."""
    saved = load(home.paths(name), name)
    known = [*saved.names, *([AUDIT] if saved.options.kube_audit_policy else [])]
    if component not in known:
        choice = f"choose from: {', '.join(known)}; for a pod: kwokctl --name {name} kubectl logs {component}"
        if component == AUDIT:
            choice = "an audit log is written by clusters created with --kube-audit-policy FILE"
        raise NotFoundError(
            f"the cluster '{name}' has no component called '{component}'", hint=choice
        )
    runtime = home.runtime(saved.options.runtime)
    async for part in runtime.logs(name, ComponentName(component), follow=follow):
        yield part
