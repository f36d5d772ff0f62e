"""Reports which components do not run, when a cluster does not answer or before it is asked."""

import asyncio
from collections.abc import Iterable

from kwokctl.clusters.launching.causes import cause_in
from kwokctl.clusters.launching.readiness import log_tail
from kwokctl.clusters.state.home import Home
from kwokctl.errors import ComponentError, EtcdGoneError, UnavailableError
from kwokctl.etcd.kv.kv import Kv
from kwokctl.etcd.kv.maintenance import status
from kwokctl.model import ClusterName, ComponentName, State
from kwokctl.progress import Progress
from kwokctl.runtime import Runtime

_ANSWERS_WITHIN = 5.0
"""Seconds in which an etcd answers that is neither down nor busy."""
_LOOK_EVERY = 1.0
_PATIENCE = 10.0
"""Seconds in which an etcd that is launched again when it dies is back: less than requests are repeated."""


async def outage(home: Home, name: ClusterName) -> UnavailableError | None:
    """Return what is wrong with a cluster of kwokctl's own; None if all its components run."""
    # Imported here: these are forty modules, and most clusters answer.
    from kwokctl.clusters.status import RunStatus, component_statuses

    found = await component_statuses(home, name)
    stopped = [component for component in found if component.status is RunStatus.STOPPED]
    down = [f"'{component.name}'" for component in stopped]
    if not down:
        return None
    what = f"the cluster '{name}' is stopped"
    if len(down) < len(found):
        verb = "does" if len(down) == 1 else "do"
        what = f"{' and '.join(down)} of the cluster '{name}' {verb} not run"
    return UnavailableError(what, hint=_remedy(home, name, [each.message for each in stopped]))


async def demand_running(
    home: Home, runtime: Runtime, name: ClusterName, *components: ComponentName
) -> None:
    """Raise ComponentError, with the remedy, unless all these components of a cluster run."""
    states = await runtime.states(name)
    for component in components:
        if states.get(component) is not State.RUNNING:
            log = await log_tail(runtime, name, component)
            raise ComponentError(f"{component} does not run", hint=_remedy(home, name, [log]))


def _remedy(home: Home, name: ClusterName, logs: Iterable[str]) -> str:
    """Return how to start a cluster whose components have ended with these last lines."""
    again = f"start it with: kwokctl start cluster --name {name}"
    folder = str(home.paths(name).root)
    causes = (cause_in(log.splitlines(), folder=folder) for log in logs)
    if cause := next(filter(None, causes), None):
        return f"{cause.what}: {cause.remedy}; then {again}"
    return again


async def watch_etcd(kv: Kv, progress: Progress) -> None:
    """Warn when etcd stops answering, until cancelled; raise EtcdGoneError if it does not come back.

    The API server lets requests wait for an etcd that was stopped, for a minute and longer. One that is
    there but busy, as with defragmenting, is waited for without end.
    """
    now = asyncio.get_running_loop().time
    silent_since: float | None = None
    while True:
        await asyncio.sleep(_LOOK_EVERY)
        asked = now()
        try:
            await status(kv, within=_ANSWERS_WITHIN)
        except EtcdGoneError as e:
            if silent_since is None:
                silent_since = asked
                progress.warn(f"{e}; waiting for it")
            is_busy = now() - asked >= _ANSWERS_WITHIN
            if not is_busy and now() - silent_since >= _PATIENCE:
                raise
        else:
            if silent_since is not None:
                progress.note("etcd answers again")
            silent_since = None
