"""Documents of the kinds PortForward and ClusterPortForward: what is behind the ports of a pod."""

from typing import Annotated

import msgspec

from kwokctl.kubelet.documents.reader import Subject

Port = Annotated[int, msgspec.Meta(ge=1, le=65535)]
_Text = Annotated[str, msgspec.Meta(pattern=r"^[^\x00]+$")]


class ForwardTarget(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A port that the host of the kubelet server can connect to."""

    address: _Text
    port: Port


class ForwardEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The target of some ports: an address, or a command that reads and writes the connection."""

    ports: tuple[Port, ...] = ()
    target: ForwardTarget | None = None
    command: tuple[_Text, ...] = ()
    """Comes before the target."""


FORWARDS = Subject(
    kind="PortForward",
    cluster_kind="ClusterPortForward",
    entries="forwards",
    entry=ForwardEntry,
    names=lambda entry: entry.ports,
)
