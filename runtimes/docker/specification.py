"""Describes a component's container: the body of the request that creates it. Pure.

The fields are those of the Engine API (https://docs.docker.com/reference/api/engine/).
"""

import hashlib
import json
from pathlib import Path

import msgspec

from kwokctl.json_value import Json
from kwokctl.model import ClusterName, Component, ComponentName, Limits, Port

CLUSTER = "io.kwokctl.cluster"
FOLDER = "io.kwokctl.folder"
COMPONENT = "io.kwokctl.component"
SPECIFICATION = "io.kwokctl.specification"
"""A digest of what a container was made from."""
_PROJECT, _PODMAN_PROJECT = "com.docker.compose.project", "io.podman.compose.project"


_LOG_SIZE, _LOG_FILES = "10m", "4"
_GO_SHARE = 0.9
"""Of the limit: what a Go program does not count itself needs some room, too."""
_SCRATCH = "/tmp"  # noqa: S108 - the container's own


class Naming(msgspec.Struct, frozen=True):
    """The names of one cluster."""

    cluster: ClusterName
    folder: Path
    """The cluster's folder: two work directories may both have a cluster of this name."""
    is_podman: bool = False

    @property
    def network(self) -> str:
        """The network of the cluster."""
        return f"kwok-{self.cluster}"

    def container(self, component: ComponentName) -> str:
        """Return the name of a component's container."""
        return f"kwok-{self.cluster}-{component}"

    @property
    def labels(self) -> dict[str, str]:
        """The labels that everything of the cluster has, and nothing of any other cluster."""
        return {CLUSTER: self.cluster, FOLDER: str(self.folder)}

    @property
    def marks(self) -> dict[str, str]:
        """The labels of all that is made: ours, and the original's, which only other tools look for.

        Clusters of earlier builds do not have the original's, and two clusters may have the same.
        """
        projects = (_PROJECT, _PODMAN_PROJECT) if self.is_podman else (_PROJECT,)
        return {**self.labels, **dict.fromkeys(projects, self.network)}


class ContainerPlacement(msgspec.Struct, frozen=True, kw_only=True):
    """The network and the paths of a cluster's containers."""

    naming: Naming
    network: str
    """The id of the cluster's network: a container that was made for an earlier network cannot be started."""
    host: str
    """The host, as a line of the container's hosts file: `NAME:ADDRESS`."""
    user: str
    """`UID:GID` of the files that the containers read and write."""


def specify(
    component: Component, *, image: str, place: ContainerPlacement, revive: bool
) -> dict[str, Json]:
    """Describe a component's container."""
    body: dict[str, Json] = {
        "Image": image,
        **_words(component),
        "Env": [
            f"{name}={value}" for name, value in {**_sparing(component), **component.env}.items()
        ],
        **_place(component, place.user),
        "Hostname": component.name,
        "ExposedPorts": {f"{port.port}/tcp": {} for port in component.ports},
        "HostConfig": {
            **_host_config(component, place.naming, revive=revive),
            **_guard(component),
            **_limits(component.limits),
            "ExtraHosts": [place.host],
        },
        "NetworkingConfig": {
            "EndpointsConfig": {place.naming.network: {"Aliases": [component.name]}},
        },
    }
    text = json.dumps([body, place.network], sort_keys=True)
    digest = hashlib.sha256(text.encode()).hexdigest()
    labels = {**place.naming.marks, COMPONENT: component.name, SPECIFICATION: digest}
    return {**body, "Labels": labels}


def _host_config(component: Component, naming: Naming, *, revive: bool) -> dict[str, Json]:
    return {
        "NetworkMode": naming.network,
        "PortBindings": {
            f"{port.port}/tcp": [_published(port)] for port in component.ports if port.host_port
        },
        "Mounts": [
            {
                "Type": "bind",
                "Source": str(mount.host_path),
                "Target": str(mount.mount_path),
                "ReadOnly": mount.read_only,
            }
            for mount in component.mounts
        ],
        "RestartPolicy": {"Name": "unless-stopped" if revive else "no"},
        # The kernel lets the first process of a container ignore the signals that it sends itself,
        # as etcd does to end; so another process comes first.
        "Init": True,
        "LogConfig": {
            "Type": "json-file",
            "Config": {"max-size": _LOG_SIZE, "max-file": _LOG_FILES},
        },
    }


def _words(component: Component) -> dict[str, Json]:
    """Return what is run: for an image of the user's own what they or the image say."""
    entry = [component.name, *component.artifact.command[1:]]  # on the PATH of all other images
    if component.own and component.artifact.image:
        entry = list(component.own.entry)
    return {**({"Entrypoint": entry} if entry else {}), "Cmd": list(component.args)}


def _place(component: Component, user: str) -> dict[str, Json]:
    """Return as whom, and in which folder, it works; what is missing the image says."""
    own = component.own
    if own is None:
        # Its own, and writable: etcd keeps a socket in its working folder.
        return {"User": user, "WorkingDir": _SCRATCH}
    usual = "" if component.artifact.image else user
    chosen = {"User": own.user or usual, "WorkingDir": own.folder}
    return {name: value for name, value in chosen.items() if value}


def _guard(component: Component) -> dict[str, Json]:
    """Take from a component what it does not need; of one of the user's own that is not known."""
    if component.own:
        return {"SecurityOpt": ["no-new-privileges"]}
    # It is a server that reads files of kwokctl, and needs no privileges of root.
    return {
        "CapDrop": ["ALL"],
        "SecurityOpt": ["no-new-privileges"],
        "ReadonlyRootfs": True,
        "Tmpfs": {_SCRATCH: ""},
    }


def _limits(limits: Limits) -> dict[str, int]:
    """Bound memory, without any swap beside it, and processors."""
    return {
        "Memory": limits.memory,
        "MemorySwap": limits.memory,
        "NanoCpus": round(limits.cpus * 1e9),
    }


def _sparing(component: Component) -> dict[str, str]:
    """Let a Go program collect its garbage before the kernel kills it for lack of memory."""
    memory = round(component.limits.memory * _GO_SHARE)
    return {"GOMEMLIMIT": str(memory)} if memory else {}


def _published(port: Port) -> dict[str, str]:
    return {"HostIp": port.host_address, "HostPort": str(port.host_port)}
