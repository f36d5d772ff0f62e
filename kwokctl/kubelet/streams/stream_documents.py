"""The documents of exec, attach and port-forward: the kinds Exec, Attach, PortForward, each with its cluster-wide kind.

They name the program that runs a container's commands, the file with its output, and the targets of its ports.
"""

from typing import Annotated

import msgspec

from kwokctl.kubelet.documents.document_reader import Subject


class AttachEntry(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """The file of some containers."""

    containers: tuple[str, ...] = ()
    logs_file: str = ""
    """A file of this machine in the format of container runtimes; without one attach is refused."""


ATTACHES = Subject(
    kind="Attach",
    cluster_kind="ClusterAttach",
    entries="attaches",
    entry=AttachEntry,
    names=lambda entry: entry.containers,
)

Text = Annotated[str, msgspec.Meta(pattern=r"^[^\x00]*$")]
"""A text that can be given to programs."""
_Number = Annotated[int, msgspec.Meta(ge=0, lt=(1 << 32) - 1)]


class EnvVar(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A variable of the environment."""

    name: Annotated[str, msgspec.Meta(pattern=r"^[^=\x00]+$")]
    value: Text = ""


class RunAs(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """The user that a command runs as; ours if there is none."""

    run_as_user: _Number | None = None
    run_as_group: _Number | None = None


class LocalExec(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Commands run on the host of the kubelet server."""

    work_dir: Text = ""
    envs: tuple[EnvVar, ...] = ()
    security_context: RunAs | None = None


class ExecEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The settings for the commands of some containers."""

    containers: tuple[str, ...] = ()
    local: LocalExec | None = None
    """Without it no command runs."""


EXECS = Subject(
    kind="Exec",
    cluster_kind="ClusterExec",
    entries="execs",
    entry=ExecEntry,
    names=lambda entry: entry.containers,
)

Port = Annotated[int, msgspec.Meta(ge=1, le=65535)]
_Word = Annotated[str, msgspec.Meta(pattern=r"^[^\x00]+$")]


class ForwardTarget(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A port that the host of the kubelet server can connect to."""

    address: _Word
    port: Port


class ForwardEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The target of some ports: an address, or a command that reads and writes the connection."""

    ports: tuple[Port, ...] = ()
    target: ForwardTarget | None = None
    command: tuple[_Word, ...] = ()
    """Comes before the target."""


FORWARDS = Subject(
    kind="PortForward",
    cluster_kind="ClusterPortForward",
    entries="forwards",
    entry=ForwardEntry,
    names=lambda entry: entry.ports,
)
