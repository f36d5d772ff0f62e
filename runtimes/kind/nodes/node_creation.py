"""Runs kind to make a cluster, and explains failures in words that users understand.

Nodes for which the kernel has no inotify instances left are refused before: containerd without one starts without its
service for the kubelet, which then never starts. kind would wait for minutes, and its output would name the API server.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import msgspec

from kwokctl.errors import CommandError, ComponentError, KwokctlError, UnavailableError
from kwokctl.host import inotify, process
from kwokctl.host.files import private_folder, remove_tree, write_atomic
from runtimes.engine.engine_client import Engine
from runtimes.engine.engine_errors import conflict


class Creation(msgspec.Struct, frozen=True, kw_only=True):
    """The settings with which a cluster is created; kept in a file from the plan to the end of the creation."""

    project: str
    """kind's name for the cluster."""
    program: str
    image: str
    pod_subnet: str
    """The addresses that the pods of real nodes are given, as the configuration has them."""

    def save(self, folder: Path) -> None:
        """Keep it in a folder."""
        write_atomic(folder / _FILE, json.dumps(msgspec.structs.asdict(self)))

    @classmethod
    def load(cls, folder: Path) -> "Creation":
        """Read what was kept; ComponentError if nothing was."""
        try:
            return cls(**json.loads((folder / _FILE).read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError) as e:
            raise ComponentError(
                f"the settings of the node are missing in '{folder / _FILE}'",
                hint="'kwokctl start cluster' writes it again",
            ) from e

    async def run(self, folder: Path, environment: Mapping[str, str]) -> None:
        """Let kind make the cluster from the configuration in the folder.

        The user's kubeconfig is left alone. What is half made stays, for its journal to be read.
        Raises ConflictError for a port that is taken, NodesExistError, LostOutputError, ComponentError for all else.
        """
        try:
            await process.run_leashed(
                self.program, "create", "cluster", "--retain", f"--name={self.project}",
                f"--image={self.image}", f"--config={folder / CONFIGURATION}",
                f"--kubeconfig={folder / 'kubeconfig'}",
                env=environment,
            )  # fmt: skip
        except CommandError as e:
            if error := conflict(self.project, e.detail):
                raise error from e
            raise _error_of(e.detail or "")(
                f"kind cannot make the cluster '{self.project}'",
                hint="the output of kind is below, then that of the component that died, or of the node",
                detail=e.detail,
            ) from e

    async def ask(self, *words: str, environment: Mapping[str, str]) -> str:
        """Run another command of kind to its end, and return what it wrote to standard output."""
        return await process.run_leashed(self.program, *words, env=environment)


class NodesExistError(ComponentError):
    """There are nodes of the cluster's name: an engine may make one after its client was killed."""


class LostOutputError(ComponentError):
    """Podman's command has lost what a program wrote in the node, and kind has used the nothing that came.

    Podman 4.3.1 loses in one of a hundred `podman exec` what its service sends together with the headers of its
    answer, all that a short command writes; the exit code is 0 (`podman --remote`, measured on two busy processors).
    """


def _error_of(output: str) -> type[ComponentError]:
    """Return the error that what kind wrote tells of."""
    for error, texts in ((NodesExistError, _EXISTS), (LostOutputError, _LOST)):
        if any(text in output for text in texts):
            return error
    return ComponentError


CONFIGURATION = "kind.yaml"
_EXISTS = ("node(s) already exist", "is already in use by container", "name is in use")
"""The messages of kind, and of Docker and Podman, about nodes that exist."""
_LOST = (
    "no objects passed to apply",
    "file should only be one line, got 0 lines",
    "should have one cluster, but read 0",
)
"""The messages of kubectl and kind about a manifest, a version and a kubeconfig of the node that were read as empty."""
_FILE = "creation.json"


@contextmanager
def set_aside(data: Path, kept: Path) -> Iterator[bool]:
    """Let kind start with an empty etcd: it does not expect nodes that it has not made.

    Yields whether there were data; they are back in their place afterwards, whatever happens. Those
    that a killed run has not put back are.
    """
    if kept.exists():
        remove_tree(data)
    elif any(data.iterdir()):
        data.rename(kept)
    private_folder(data)
    try:
        yield kept.exists()
    finally:
        if kept.exists():
            remove_tree(data)
            kept.rename(data)


_NEEDED = 16
"""Instances that systemd, containerd and the kubelet of a node take; the control plane works without its own."""
_REFUSAL = "too many open files"
"""The text of EMFILE (inotify_init(2)), which programs write about it."""


def demand_instances(engine: Engine, root: Path = Path("/")) -> None:
    """Raise UnavailableError if the kernel would refuse the programs of one node, as far as this user sees."""
    now = inotify.limits(root)
    if engine.endpoint.shares_this_kernel and now.instances and now.left < _NEEDED:
        raise UnavailableError(
            f"a node of kind takes {_NEEDED} inotify instances to start, and only {max(now.left, 0)} are available "
            f"({inotify.SETTING}instances={now.instances})",
            hint=f"raise the limit: '{inotify.remedy('instances')}'; or stop other clusters",
        )


def without_instances(error: KwokctlError) -> UnavailableError | None:
    """Return an error with the remedy if a node's programs have written that they had too few."""
    if _REFUSAL not in (error.detail or ""):
        return None
    return UnavailableError(
        f"{error}: programs of its node may watch too few files",
        hint=f"raise the limit: '{inotify.remedy('instances')}', then repeat the command",
        detail=error.detail,
    )
