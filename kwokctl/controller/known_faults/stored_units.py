"""The units that Faults hit, as statuses and pages store them: by fault, and by node. Pure."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from kwokctl.faults.objects.row_pages import IN_STATUS
from kwokctl.faults.objects.unit_rows import FaultUnit, UnitRow, read_row

Hit = Mapping[str, Sequence[FaultUnit]]
"""The units of a node, by the uid of the fault."""


class StoredUnits:
    """The rows of all Faults; faults and nodes are named by their uids."""

    def __init__(self) -> None:
        """Begin without any."""
        self._in_status: dict[str, tuple[UnitRow, ...]] = {}
        """By fault: the rows in its status. Most faults have no others, and a dictionary for each would be larger than its row."""
        self._pages: dict[str, dict[int, tuple[UnitRow, ...]]] = {}
        """By fault: the other rows, by the number of their page."""
        self._on: dict[str, tuple[tuple[str, FaultUnit], ...]] = {}
        """By node: the faults, each with a unit on which no repair has ended it."""
        self._asleep: set[tuple[str, int]] = set()
        """The fault and the number of each page with rows that are asleep."""

    def put(self, fault: str, number: int, texts: Sequence[str]) -> dict[str, str]:
        """Replace the rows of a page; return the nodes on which units came or went: their names by uid."""
        rows = tuple(row for text in texts if (row := read_row(text)) is not None)
        known = self.pages(fault).get(number, ())
        before, after = ({each.unit for each in _open(some)} for some in (known, rows))
        self._replace(fault, number, rows)
        for unit in before - after:
            self._take_away(fault, unit)
        if not after <= before:
            for unit in (each.unit for each in _open(rows) if each.unit not in before):
                self._on[unit.node_uid] = (*self._on.get(unit.node_uid, ()), (fault, unit))
        return {unit.node_uid: unit.node for unit in before ^ after}

    def drop(self, fault: str) -> dict[str, str]:
        """Forget the rows of a fault; return the nodes that it has hit."""
        nodes = self.nodes_of(fault)
        for number in tuple(self.pages(fault)):
            self.put(fault, number, ())
        return nodes

    def clear(self) -> None:
        """Forget all rows."""
        self._in_status.clear()
        self._pages.clear()
        self._asleep.clear()
        self._on.clear()

    def pages(self, fault: str) -> Mapping[int, Sequence[UnitRow]]:
        """Return the rows of a fault by the number of their page."""
        rows, pages = self._in_status.get(fault), self._pages.get(fault, {})
        return pages if rows is None else {IN_STATUS: rows, **pages}

    def rows(self, fault: str) -> Iterator[UnitRow]:
        """Yield the rows of a fault in the order of its selection."""
        for _, rows in sorted(self.pages(fault).items()):
            yield from rows

    def nodes_of(self, fault: str) -> dict[str, str]:
        """Return the nodes that a fault hits: their names by uid."""
        return {row.unit.node_uid: row.unit.node for row in self.rows(fault)}

    def nodes(self) -> dict[str, str]:
        """Return all nodes that are hit: their names by uid."""
        return {node: hits[0][1].node for node, hits in self._on.items()}

    def asleep(self) -> Iterator[tuple[str, UnitRow]]:
        """Yield the rows of units that look good until they are used, each with the uid of its fault."""
        for fault, number in tuple(self._asleep):
            for row in self.pages(fault).get(number, ()):
                if row.asleep:
                    yield fault, row

    def hit(self, node: str) -> Hit:
        """Return the units of a node, by fault."""
        found: dict[str, list[FaultUnit]] = {}
        for fault, unit in self._on.get(node, ()):
            found.setdefault(fault, []).append(unit)
        return found

    def faults_of(self, node: str) -> Collection[str]:
        """Return the faults that hit a node."""
        return dict.fromkeys(fault for fault, _ in self._on.get(node, ()))

    def __contains__(self, node: str) -> bool:
        return node in self._on

    def _replace(self, fault: str, number: int, rows: tuple[UnitRow, ...]) -> None:
        self._asleep.discard((fault, number))
        if any(row.asleep for row in rows):
            self._asleep.add((fault, number))
        if number == IN_STATUS:
            if rows:
                self._in_status[fault] = rows
            else:
                self._in_status.pop(fault, None)
            return
        pages = self._pages.setdefault(fault, {})
        if rows:
            pages[number] = rows
            return
        pages.pop(number, None)
        if not pages:
            del self._pages[fault]

    def _take_away(self, fault: str, unit: FaultUnit) -> None:
        hits = list(self._on[unit.node_uid])
        hits.remove((fault, unit))
        if hits:
            self._on[unit.node_uid] = tuple(hits)
        else:
            del self._on[unit.node_uid]


def _open(rows: Iterable[UnitRow]) -> Iterator[UnitRow]:
    """Yield the rows of units that still have the fault."""
    return (row for row in rows if row.ended is None)
