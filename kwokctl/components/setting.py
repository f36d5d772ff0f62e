"""The input of component builders: the cluster's options, files, ports and programs."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from kwokctl.artifacts.versions import minor
from kwokctl.components import cluster_identities
from kwokctl.components.command_line import Value, flags
from kwokctl.components.kubernetes_releases import known
from kwokctl.config.options import ClusterOptions
from kwokctl.config.patches.patch import Patches
from kwokctl.host.paths import ClusterPaths
from kwokctl.host.ports import LOOPBACK, dialled, joined
from kwokctl.model import Artifact, ComponentName, HttpProbe, Mount
from kwokctl.runtime import Site


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """The cluster that components are described for. The ports in `options` have been chosen."""

    site: Site
    paths: ClusterPaths
    options: ClusterOptions
    artifacts: Mapping[str, Artifact]
    patches: Patches = msgspec.field(default_factory=dict)
    """The user's changes to components."""
    writes_to_etcd: bool = False
    """Whether fake kubelets write past the API server."""
    has_route: bool = True
    """Whether this machine has a default route."""
    controller_options: Mapping[str, object] = msgspec.field(default_factory=dict)
    """The options in the user's documents of kind KwokConfiguration."""

    @property
    def kube_minor(self) -> int:
        """The minor release of Kubernetes: 36 for v1.36.3."""
        return minor(self.options.kube_version)

    def port(self, name: ComponentName) -> int:
        """Return the port that was chosen for a component on this host."""
        return self.options.component(name).port

    def user_args(self, name: ComponentName) -> Mapping[str, str | None]:
        """Return the user's own arguments for a component."""
        return self.patches[name].args if name in self.patches else {}

    def arguments(self, name: ComponentName, values: Mapping[str, Value]) -> tuple[str, ...]:
        """Render the flags of a component of Kubernetes that its release knows, and the user's own."""
        return flags(known(name, self.kube_minor, values), self.user_args(name))

    def bind(self, name: ComponentName) -> str:
        """Return what a component listens on: on this host, the address that the user chose."""
        inside = self.site.bind(name)
        return self.options.bind_address if inside == LOOPBACK else inside

    def address(
        self, name: ComponentName, *, dialler: ComponentName | None = None, port: int = 0
    ) -> str:
        """Return the `host:port` at which `dialler` finds a component; None is this host.

        `port` is one on this host, if not the one that was chosen for the component.
        """
        found = self.site.address(name, port or self.port(name), dialler=dialler)
        host, _, number = found.rpartition(":")
        here = dialled(self.options.bind_address)
        return joined(here if host == LOOPBACK else host, int(number))

    def pki(self, file: str) -> str:
        """Return where a component finds a file of the PKI."""
        return str(self.site.path(self.paths.pki / file))

    def kubeconfig(self, name: ComponentName) -> str:
        """Return where a component finds its own kubeconfig."""
        return str(self.site.path(self.paths.component_kubeconfig(name)))

    def mount(self, host_path: Path, *, read_only: bool = True) -> Mount:
        """Describe that a component sees a file or folder of the host."""
        return Mount(host_path=host_path, mount_path=self.site.path(host_path), read_only=read_only)

    def probe(self, url: str) -> HttpProbe:
        """Describe a GET with the administrator's certificate."""
        pki: Path = self.paths.pki
        admin = cluster_identities.ADMIN
        return HttpProbe(
            url=url, ca=pki / "ca.crt", cert=pki / f"{admin}.crt", key=pki / f"{admin}.key"
        )
