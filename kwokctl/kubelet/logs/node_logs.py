"""Answers `/logs/`: the kernel log of a node, as a file and by queries for services.

A node is named by the address at which the server was reached, or by the path: `/logs/nodes/NODE/kern.log`.
"""

from collections.abc import Iterator, Sequence

from kwokctl.embedded.http.messages import TEXT, Answer, RefusedError, Request
from kwokctl.embedded.http.route_table import Route
from kwokctl.expr.budget import BudgetError
from kwokctl.kubelet.fleet.dialled_node import node_at
from kwokctl.kubelet.fleet.views import FleetView, NodeView
from kwokctl.kubelet.logs.kernel_log import KernelLine, as_file, as_journal, kernel_lines
from kwokctl.kubelet.logs.node_log_query import NodeLogQuery, node_log_query, pattern_of

_ROOT, _NODES = "logs", "nodes"
_FILE = "kern.log"
_KERNEL, _KUBELET = "kernel", "kubelet"
_JOURNAL = frozenset({_KERNEL, _KUBELET})
"""Services that have their lines in the journal: of kubelets nothing is written there."""
_OF_FILE = frozenset({"kern", _FILE})
"""Services whose lines a kubelet finds in the file."""
_NO_ENTRIES = "-- No entries --\n"
_HTML = "text/html; charset=utf-8"
_LISTING = f'<pre>\n<a href="{_FILE}">{_FILE}</a>\n</pre>\n'.encode()


class NodeLogs:
    """The logs of the machines of a fleet."""

    def __init__(self, fleet: FleetView) -> None:
        """Answer for the nodes of the fleet."""
        self._fleet = fleet

    def routes(self) -> Iterator[Route]:
        """Yield where logs are requested."""
        for is_tree in (False, True):
            yield Route(
                path=f"/{_ROOT}", is_tree=is_tree, answer=self.answer, is_debugging=True
            )  # fmt: skip

    async def answer(self, request: Request) -> Answer:
        """Answer with a list of files, a file or lines of services; RefusedError says why there are none."""
        await self._fleet.watched()
        name, rest = self._place(request)
        node = self._fleet.node(name)
        if node is None:
            raise RefusedError(404, f"there is no fake node '{name}'")
        node.demand_answer()
        return _answer(node, rest, node_log_query(request))

    def _place(self, request: Request) -> tuple[str, Sequence[str]]:
        """Return the node that a request is about, and the path below its folder of logs."""
        rest = request.segments[1:]
        if len(rest) > 1 and rest[0] == _NODES:
            return rest[1], rest[2:]
        return node_at(request, self._fleet, f"/{_ROOT}/{_NODES}/NAME/{_FILE}"), rest


def _answer(node: NodeView, path: Sequence[str], query: NodeLogQuery | None) -> Answer:
    if query is None:
        if not path:
            return Answer(body=_LISTING, content_type=_HTML)
        return _file(node, "/".join(path))
    if path:
        raise RefusedError(406, "path not allowed in query mode")
    if query.file:
        return _file(node, query.file.replace("\\", "/").strip("/"))
    return Answer(body=_of_services(node, query).encode(), content_type=TEXT)


def _file(node: NodeView, name: str) -> Answer:
    if name != _FILE:
        raise RefusedError(404, f"the folder of logs has no '{name}': a fake node has '{_FILE}'")
    return Answer(body=as_file(node, kernel_lines(node.faults)).encode(), content_type=TEXT)


def _of_services(node: NodeView, query: NodeLogQuery) -> str:
    """Return the journal first, then what is in files, as kubelets do."""
    parts: list[str] = []
    if not _JOURNAL.isdisjoint(query.services):
        has_kernel = _KERNEL in query.services and query.boot == 0
        lines = _selected(kernel_lines(node.faults), query) if has_kernel else ()
        parts.append(as_journal(node, lines) or _NO_ENTRIES)
    others = [each for each in query.services if each not in _JOURNAL]
    if others and query.has_options:
        parts.append(
            f"\noptions present and query resolved to log files for [{' '.join(others)}]\n"
            "try without specifying options\n"
        )
    else:
        parts += [_in_file(node, each) for each in others]
    return "".join(parts)


def _in_file(node: NodeView, service: str) -> str:
    if service not in _OF_FILE:
        return f"\nlog not found for {service}\n"
    return as_file(node, kernel_lines(node.faults))


def _selected(lines: Sequence[KernelLine], query: NodeLogQuery) -> Sequence[KernelLine]:
    pattern = pattern_of(query)
    in_time = [line for line in lines if query.since <= line.time <= query.until]
    try:
        found = [line for line in in_time if pattern is None or pattern.is_in(line.text)]
    except BudgetError as e:
        raise RefusedError(406, f"pattern: {e}") from e
    return found if query.tail is None else found[max(len(found) - query.tail, 0) :]
