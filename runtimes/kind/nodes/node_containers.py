"""Finds, makes and removes the containers that are the nodes of a cluster."""

import json
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress

from kwokctl.errors import ComponentError, ConflictError, KwokctlError
from kwokctl.host.certificates.pki import add_server_name
from kwokctl.host.files import private_folder, remove_tree, write_atomic
from kwokctl.host.machine import Host
from kwokctl.host.paths import ClusterPaths
from kwokctl.json_value import Json
from kwokctl.model import KWOK_KUBELET, ClusterName, ComponentName
from kwokctl.tasks import all_of
from runtimes.engine.engine_client import Container
from runtimes.engine.site import host_address
from runtimes.kind.kind_node import CLUSTER, CONTROL_PLANE, NODE_ROLES, ROLE, Node
from runtimes.kind.kubelet_certificates import certify, node_names
from runtimes.kind.nodes.kind_configuration import pod_networks
from runtimes.kind.nodes.node_creation import (
    Creation,
    LostOutputError,
    NodesExistError,
    demand_instances,
    set_aside,
    without_instances,
)
from runtimes.kind.pods.kubeadm import MAKES
from runtimes.kind.provider import Provider

_PREFIX = "kwok-"
"""The prefix of kind's names for our clusters."""
_TRIES = 4
"""The most requests to kind, if a further one may succeed: it has found nodes that were created meanwhile, or read nothing."""
_MADE = "made"
"""A file with the id of the node that kind has made to its end."""
_REGISTERED = "nodes.json"
"""A file with the nodes as they were registered while other data were set aside."""


class KindNodes:
    """The nodes of one cluster."""

    def __init__(self, provider: Provider, cluster: ClusterName, paths: ClusterPaths) -> None:
        """Look for them with this provider, and keep what is to be known of them below `paths`."""
        self._provider = provider
        self._engine = provider.engine
        self._cluster = cluster
        self._paths = paths
        self.project = f"{_PREFIX}{cluster}"
        self.folder = paths.root / "kind"

    async def all(self) -> list[Container]:
        """Return the nodes that have the name of this cluster, whichever program made them."""
        return await self._engine.containers({CLUSTER: self.project})

    def made(self, containers: Collection[Container]) -> Container | None:
        """Return our control plane's node among these, if it was made to its end."""
        container = self.control_plane(containers)
        made = self.folder / _MADE
        if container and made.is_file() and made.read_text(encoding="ascii") == container.id:
            return container
        return None

    async def found(self) -> Container | None:
        """Return our control plane's node, if there is one that was made to its end."""
        return self.made(await self.all())

    def control_plane(self, containers: Collection[Container]) -> Container | None:
        """Return our control plane's node, made to its end or not."""
        return next((one for one in containers if self._is_ours(one)), None)

    def refuse_strangers(self, containers: Collection[Container]) -> None:
        """Raise ConflictError if nodes have the name of this cluster and are not its own."""
        if containers and not any(self._is_ours(one) for one in containers):
            raise ConflictError(
                f"kind has a cluster called '{self.project}', and it does not belong to this cluster",
                hint=f"remove it with '{self._provider.called} delete cluster --name {self.project}', "
                "or choose another --name",
            )

    def prepare(self, configured: Mapping[str, Json], *, program: str, image: str) -> None:
        """Keep how the configured nodes are made, and certify their kubelets."""
        certify(self._paths.pki, node_names(self.project, configured["nodes"]))
        subnet = configured["networking"]["podSubnet"]
        creation = Creation(project=self.project, program=program, image=image, pod_subnet=subnet)
        creation.save(self.folder)

    async def host_certified(self, node: Container) -> str:
        """Return the address of this host as the node sees it; empty if it is another machine's.

        Fake nodes name it, so the API server verifies the certificate of their kubelet for it.
        """
        host = await host_address(self._engine, await self._engine.gateway(node.id))
        if host:
            add_server_name(self._paths.pki, KWOK_KUBELET, host)
        return host

    async def make(self, inside: Collection[ComponentName]) -> Container:
        """Let kind make the node, without what the cluster is not to have: only what is `inside`."""
        creation = Creation.load(self.folder)
        await self._remove_remains()
        demand_instances(self._engine)
        with set_aside(self._paths.etcd_data, self.folder / "etcd") as is_kept:
            made = await self._create(creation, inside)
            node = Node(self._engine, made)
            if is_kept:
                write_atomic(self.folder / _REGISTERED, await node.registered(), mode=0o600)
                # What was set aside comes back under the components, which then start again.
                await node.end_at_once(MAKES)
            else:
                await node.stop(MAKES.difference(inside))
        write_atomic(self.folder / _MADE, made.id)
        return made

    def registered(self) -> Sequence[Mapping[str, Json]]:
        """Return the Node objects that kind has registered; the data that were set aside may lack them."""
        try:
            text = (self.folder / _REGISTERED).read_text(encoding="utf-8")
        except FileNotFoundError:
            return ()
        found: list[Mapping[str, Json]] = json.loads(text)["items"]
        return found

    async def remove(self, nodes: Collection[Container]) -> None:
        """Remove nodes, and the volumes that kind has made for them if that is left to it."""
        await all_of(self._engine.remove(node.id) for node in nodes)
        await all_of(self._engine.remove_volumes(node.name) for node in nodes)

    def _is_ours(self, container: Container) -> bool:
        """Return whether it is the node that sees the folder of this very cluster."""
        is_first = container.labels.get(ROLE) == CONTROL_PLANE
        return is_first and str(self._paths.root) in container.sources

    async def _create(self, creation: Creation, inside: Collection[ComponentName]) -> Container:
        """Let kind make the nodes, and give them what kind does not.

        The engine may still make a node for a run that has been killed, and Podman may lose what kind reads
        in the node: these nodes are removed, and kind is asked again.
        """
        for _ in range(_TRIES - 1):
            with suppress(NodesExistError, LostOutputError):
                return await self._created(creation, inside)
        return await self._created(creation, inside)

    async def _created(self, creation: Creation, inside: Collection[ComponentName]) -> Container:
        try:
            await creation.run(self.folder, self._provider.environment)
        except KwokctlError as e:
            if half := self.control_plane(await self.all()):
                said = await Node(self._engine, half).complaint(inside)
                e.detail = "\n".join(filter(None, (e.detail, said)))
            await self._remove_remains()
            self._empty_data()
            if lacking := without_instances(e):
                raise lacking from e
            raise
        containers = await self.all()
        made = self.control_plane(containers)
        if made is None:
            raise ComponentError(
                f"the node that kind has made of '{self._cluster}' is gone",
                hint="find out what removes containers on this machine, then repeat",
            )
        node = Node(self._engine, made)
        await node.reserve()
        nodes = [one.name for one in containers if one.labels.get(ROLE) in NODE_ROLES]
        await node.give_networks(pod_networks(creation.pod_subnet, nodes))
        return made

    def _empty_data(self) -> None:
        """Remove what the etcd of a half-made node has written: kind began with an empty folder, and does again."""
        remove_tree(self._paths.etcd_data)
        private_folder(self._paths.etcd_data)

    async def _remove_remains(self) -> None:
        """Remove what a killed run, or kind itself, has left half made."""
        containers = await self.all()
        self.refuse_strangers(containers)
        await self.remove(containers)


async def remains(provider: Provider, host: Host) -> dict[ClusterName, list[str]]:
    """Return the nodes of a work folder's clusters, whether or not those exist."""
    found: dict[ClusterName, list[str]] = {}
    containers = await provider.engine.containers({CLUSTER: ""})
    for project in {each.labels[CLUSTER] for each in containers}:
        name = ClusterName(project.removeprefix(_PREFIX))
        same = [each for each in containers if each.labels[CLUSTER] == project]
        if KindNodes(provider, name, host.cluster(name)).control_plane(same):
            found[name] = [each.name for each in same]
    return found
