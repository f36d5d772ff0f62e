"""Reads what components have written."""

from collections.abc import AsyncIterator
from datetime import UTC

from kwokctl.clusters.log_lines import LineRange, beyond, lines_of
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.saved import load
from kwokctl.components.definitions.kube_apiserver import KubeApiserverOptions
from kwokctl.errors import NotFoundError
from kwokctl.model import ClusterName, ComponentName

AUDIT = "audit"
_ALL = LineRange()


async def component_logs(
    home: Home, name: ClusterName, component: str, *, follow: bool, wanted: LineRange = _ALL
) -> AsyncIterator[bytes]:
    """Yield the `wanted` lines of a component's log, or of the audit log, and with `follow` all new ones.

    Raises NotFoundError if there is no such component.
    """
    saved = load(home.paths(name), name)
    has_audit = saved.options.of(KubeApiserverOptions).audit_policy
    known = [*saved.names, *([AUDIT] if has_audit else [])]
    if component not in known:
        choice = (
            f"choose from: {', '.join(known)}; "
            f"for a pod: kwokctl --name {name} kubectl logs {component}"
        )
        if component == AUDIT:
            choice = "an audit log is written by clusters created with --kube-audit-policy FILE"
        raise NotFoundError(
            f"the cluster '{name}' has no component called '{component}'", hint=choice
        )
    runtime, each = home.runtime(saved.options.runtime), ComponentName(component)
    so_far = 0
    if wanted != _ALL:
        lines = await lines_of(runtime.logs(name, each))
        # What has a log file here is a process of this machine; containers have no other zone.
        zone = None if home.paths(name).log(each).exists() else UTC
        for line in wanted.of(lines, zone):
            yield line
        if not follow:
            return
        so_far = sum(map(len, lines))
    async for part in beyond(runtime.logs(name, each, follow=follow), so_far):
        yield part
