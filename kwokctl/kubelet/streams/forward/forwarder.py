"""Forwards the ports of one pod, as documents say."""

from collections.abc import Mapping

from kwokctl.kubelet.documents.lookup import Lookup
from kwokctl.kubelet.fleet.views import PodView
from kwokctl.kubelet.streams.forward.documents import ForwardEntry
from kwokctl.kubelet.streams.forward.endpoints import ForwardError
from kwokctl.kubelet.streams.forward.relay import ForwardedStream, relay


class PodForwarder:
    """Connects to the targets of a pod's ports."""

    def __init__(
        self, pod: PodView, forwards: Lookup[ForwardEntry], env: Mapping[str, str]
    ) -> None:
        """Look into `forwards`; commands have the environment `env`."""
        self._pod, self._forwards, self._env = pod, forwards, env

    async def forward(self, port: int, stream: ForwardedStream) -> str:
        """Carry a connection to its end; return what went wrong, empty if nothing did."""
        name = f"{self._pod.namespace}/{self._pod.name}"
        failure = f"error forwarding port {port} to pod {name}:"
        entry = self._forwards.find(self._pod, port)
        if entry is None:
            return f"{failure} no document of kind PortForward or ClusterPortForward names it"
        if entry.target is None and not entry.command:
            return f"{failure} the entry of 'forwards' for it has no 'target' and no 'command'"
        try:
            await relay(stream, entry, self._env)
        except ForwardError as e:
            return f"{failure} {e}"
        return ""
