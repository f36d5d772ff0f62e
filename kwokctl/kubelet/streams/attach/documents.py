"""Documents of the kinds Attach and ClusterAttach: which file has what a container writes."""

from typing import Annotated

import msgspec

from kwokctl.kubelet.documents.reader import Subject


class AttachEntry(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """The file of some containers."""

    logs_file: Annotated[str, msgspec.Meta(min_length=1)]
    """A file of this machine in the format of container runtimes."""
    containers: tuple[str, ...] = ()


ATTACHES = Subject(
    kind="Attach",
    cluster_kind="ClusterAttach",
    entries="attaches",
    entry=AttachEntry,
    names=lambda entry: entry.containers,
)
