"""Documents of the kinds Attach and ClusterAttach: which file has what a container writes."""

import msgspec

from kwokctl.kubelet.documents.reader import Subject


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
