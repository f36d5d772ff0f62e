"""Finds the components of a cluster of this kwokctl: their metrics, processes and logs."""

import os
from collections.abc import Awaitable, Callable, Mapping

from kwokctl.clusters.launching.readiness import remarks
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.saved import Saved
from kwokctl.components.definitions.kube_apiserver import KubeApiserverOptions
from kwokctl.components.host_pages import host_page
from kwokctl.measure.sampling.metric_sources import Components, Processes
from kwokctl.model import KUBE_APISERVER, ComponentName
from kwokctl.runtime import KnowsProcesses


def components_of(home: Home, saved: Saved) -> Components:
    """Return the components of a cluster."""
    paths, runtime = home.paths(saved.name), home.runtime(saved.options.runtime)
    setting = saved.setting(runtime, paths)
    found = {name: host_page(name, setting) for name in saved.names}
    processes: Callable[[], Awaitable[Processes]] | None = None
    if isinstance(runtime, KnowsProcesses):
        known = runtime

        async def processes() -> Processes:
            return await known.processes(saved.name)

    async def reasons() -> Mapping[ComponentName, str]:
        return await remarks(runtime, saved.name)

    log = paths.logs / "audit.log"
    has_audit = saved.options.of(KubeApiserverOptions).audit_policy and os.access(log, os.R_OK)
    return Components(
        names=saved.names,
        # The metrics of the API server are read as in a cluster that is not kwokctl's.
        pages={name: page for name, page in found.items() if page and name != KUBE_APISERVER},
        processes=processes,
        remarks=reasons,
        audit_log=log if has_audit else None,
    )
