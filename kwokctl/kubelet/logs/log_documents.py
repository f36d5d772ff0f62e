"""The kinds Logs and ClusterLogs: where the lines of containers come from."""

from typing import Annotated, Literal

import msgspec

from kwokctl.errors import ExpressionError
from kwokctl.expr import gotemplate
from kwokctl.kubelet.documents.document_reader import Subject

_FASTEST = 10_000.0
_MOST_KEPT = 10_000_000


class GeneratedLines(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Lines that are made when they are requested."""

    template: str
    """A Go template of one line."""
    lines_per_second: Annotated[float, msgspec.Meta(gt=0, le=_FASTEST)] = 1.0
    stream: Literal["stdout", "stderr"] = "stdout"
    kept_lines: Annotated[int, msgspec.Meta(ge=1, le=_MOST_KEPT)] = 10_000
    """The number of a container's lines that are kept: a node keeps a log file or two of each."""


class LogsEntry(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """The source of the lines of some containers: files, or a template."""

    containers: tuple[str, ...] = ()
    logs_file: str = ""
    """A file of this machine in the format of container runtimes."""
    previous_logs_file: str = ""
    follow: bool = False
    """Without effect, as in the original: whether to follow is the client's wish."""
    generated: GeneratedLines | None = None


def _problem(entry: LogsEntry) -> str | None:
    generated = entry.generated
    if generated is None:
        return None
    if entry.logs_file or entry.previous_logs_file:
        return "has both a file and 'generated' lines"
    try:
        unknown = gotemplate.compile(generated.template).required
    except ExpressionError as e:
        return f"has a template that cannot be compiled: {e}"
    if unknown:
        return f"has a template that calls what is not a function: {', '.join(sorted(unknown))}"
    return None


LOGS = Subject(
    kind="Logs",
    cluster_kind="ClusterLogs",
    entries="logs",
    entry=LogsEntry,
    names=lambda entry: entry.containers,
    problem=_problem,
)
