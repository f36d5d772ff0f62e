"""The protocol between a running controller and a command that writes nodes and pods beside it.

`GET /seen` answers a `Seen`; `GET /kubelet` answers a `KubeletEndpoint`; `GET /stages` answers
`PlayedStages`, and with `/generation` their generation; `GET /metrics` answers metrics; `POST /pod-addresses` with an
`AddressRequest` answers `Addresses` by the name of the node.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from kwokctl.errors import ApiError
from kwokctl.json_value import Json
from kwokctl.kube.transport.pool import Pool, Response

_PROGRAM = "kwokctl/"
"""The text before the version in the header `Server`."""
PODS_PER_REQUEST = 10_000
"""Pods for which addresses are requested at a time."""


class Seen(msgspec.Struct):
    """The resourceVersions to which a controller's watches have come; 0 before they began."""

    nodes: int = 0
    pods: int = 0
    faults: int | None = None
    """None where no Fault has been seen; a controller of an earlier version does not say it."""


class KubeletEndpoint(msgspec.Struct):
    """The address at which the API server reaches the kubelets of all fake nodes."""

    address: str = ""
    port: int = 0


class PlayedStages(msgspec.Struct, kw_only=True):
    """The Stages that a controller plays on new nodes and pods, and everything they depend on."""

    generation: str = ""
    """Changes whenever another field changes."""
    stages: list[dict[str, Json]]
    """The Stage documents, in order."""
    selection: dict[str, str | bool]
    """The options of `select`: which nodes are managed, and which objects are left alone."""
    node_ip: str = ""
    node_name: str = ""
    node_port: int = 0
    kubelet_address: str = ""
    kubelet_features: tuple[str, ...] = ()
    started: str = ""
    """The controller's start time, which templates see."""
    manager: str
    """The controller's name as a field manager."""
    faults_follow: bool = False
    """Whether faults are open that hit new nodes: the controller alone knows which, and plays all of them itself."""


class AddressRequest(msgspec.Struct):
    """The number of pods on each node that need addresses."""

    nodes: dict[str, int]


class Addresses(msgspec.Struct):
    """The addresses of a node, and those of new pods on it."""

    hosts: list[str]
    pods: list[list[str]]
    """The addresses of each pod, one of each family that the node has."""
    is_held: bool = True
    """Whether no other controller writes to the node and its pods."""
    families: int = 0
    """The number of addresses of a pod on the node that does not use the host's network."""


class PodPlace(NamedTuple):
    """The node and the addresses of a new pod."""

    pod_ips: tuple[str, ...] = ()
    host_ips: tuple[str, ...] = ()
    is_held: bool = True
    families: int = 0


class ControllerClient:
    """Asks the running controller; every method raises ApiError if it does not answer."""

    def __init__(self, pool: Pool, token: Path) -> None:
        """Use the connections of `pool`, which lead to the controller's port.

        `token` is the file with the token for it.
        """
        self._pool = pool
        self._token = token
        self._headers: Mapping[str, str] | None = None

    async def version(self) -> str:
        """Ask for the version of kwokctl whose controller it is; empty if it does not say."""
        server = (await self._answer("GET", "/seen")).header(b"server") or ""
        return server.removeprefix(_PROGRAM) if server.startswith(_PROGRAM) else ""

    async def metrics(self) -> bytes:
        """Ask for the controller's metrics, in Prometheus' text format."""
        return await self._ask("GET", "/metrics")

    async def seen(self) -> Seen:
        """Ask for the versions that the controller's watches have reached."""
        return msgspec.json.decode(await self._ask("GET", "/seen"), type=Seen)

    async def kubelet(self) -> KubeletEndpoint:
        """Ask for the address at which the API server reaches the kubelets of fake nodes."""
        body = await self._ask("GET", "/kubelet")
        return msgspec.json.decode(body, type=KubeletEndpoint)

    async def stages(self) -> PlayedStages:
        """Ask for the Stages that are played on new objects."""
        return msgspec.json.decode(await self._ask("GET", "/stages"), type=PlayedStages)

    async def generation(self) -> str:
        """Ask only for the generation of these Stages."""
        return msgspec.json.decode(await self._ask("GET", "/stages/generation"), type=str)

    async def addresses(self, nodes: Sequence[str], *, of_pods: bool) -> Iterator[PodPlace]:
        """Return the place of a new pod on each of `nodes`, in their order.

        At most `PODS_PER_REQUEST` can be requested.
        Without `of_pods` only addresses of nodes are requested, and a pod has those of its node.
        """
        found = await self._reserve(nodes, of_pods=of_pods)
        return _in_order(nodes, found, of_pods=of_pods)

    async def _reserve(self, nodes: Sequence[str], *, of_pods: bool) -> dict[str, Addresses]:
        wanted = Counter(nodes) if of_pods else dict.fromkeys(nodes, 0)
        body = msgspec.json.encode(AddressRequest(nodes=dict(wanted)))
        answer = await self._ask("POST", "/pod-addresses", body)
        return msgspec.json.decode(answer, type=dict[str, Addresses])

    async def _ask(self, method: str, path: str, body: bytes = b"") -> bytes:
        return (await self._answer(method, path, body)).body

    async def _answer(self, method: str, path: str, body: bytes = b"") -> Response:
        response = await self._request(method, path, body)
        if response.status == 401:  # a controller that has been restarted has another token
            self._headers = None
            response = await self._request(method, path, body)
        if response.status != 200:
            text = response.body.decode(errors="replace").strip()
            raise ApiError(
                f"the controller answers {response.status}: {text}", status=response.status
            )
        return response

    async def _request(self, method: str, path: str, body: bytes) -> Response:
        if self._headers is None:
            token = await asyncio.to_thread(_read, self._token)
            self._headers = {"Authorization": f"Bearer {token}"}
        return await self._pool.request(method, path, body=body, headers=self._headers)


def _in_order(
    nodes: Sequence[str], found: dict[str, Addresses], *, of_pods: bool
) -> Iterator[PodPlace]:
    pods = {node: iter(addresses.pods) for node, addresses in found.items()}
    for node in nodes:
        answer = found[node]
        hosts = tuple(answer.hosts)
        own = tuple(next(pods[node])) if of_pods else hosts
        yield PodPlace(own, hosts, answer.is_held, answer.families)


def _read(token: Path) -> str:
    try:
        return token.read_text(encoding="ascii").strip()
    except OSError as e:
        raise ApiError(f"'{token}' cannot be read: {e.strerror}", status=401) from e
