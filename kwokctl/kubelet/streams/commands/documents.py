"""Documents of the kinds Exec and ClusterExec: what runs the commands of a container."""

from typing import Annotated

import msgspec

from kwokctl.kubelet.documents.reader import Subject

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
