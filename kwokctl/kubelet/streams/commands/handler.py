"""Answers exec: runs a command for a container, if a document says how."""

from collections.abc import Mapping

from kwokctl.embedded.http.messages import RawStream, RefusedError, Request
from kwokctl.kubelet.documents.lookup import Lookup
from kwokctl.kubelet.fleet.views import PodFinder
from kwokctl.kubelet.streams.commands.documents import ExecEntry
from kwokctl.kubelet.streams.commands.environment import child_options
from kwokctl.kubelet.streams.commands.running import run_command
from kwokctl.kubelet.streams.remote.options import read_options
from kwokctl.kubelet.streams.remote.serving import serve_command
from kwokctl.kubelet.streams.targets import find_container


class ExecHandler:
    """Answers `/exec/…`."""

    def __init__(
        self, fleet: PodFinder, execs: Lookup[ExecEntry], environment: Mapping[str, str]
    ) -> None:
        """Run what `execs` allow for the pods of `fleet`, with our own `environment` and theirs."""
        self._fleet, self._execs, self._environment = fleet, execs, environment

    async def __call__(self, request: Request, raw: RawStream) -> None:
        """Take the connection over. Raises RefusedError for what may not be run."""
        target = await find_container(request, self._fleet)
        options = read_options(request)
        if not options.command:
            raise RefusedError(400, "there is no command to run")
        entry = self._execs.find(target.pod, target.container.name)
        if entry is None:
            raise RefusedError(
                400, f"no document of kind Exec or ClusterExec allows commands in {target}"
            )
        if entry.local is None:
            needed = "has no 'local', which may be empty and lets commands run"
            raise RefusedError(400, f"the entry of 'execs' for {target} {needed}")
        child = child_options(entry.local, target, options, self._environment)
        await serve_command(request, raw, options, lambda streams: run_command(child, streams))
