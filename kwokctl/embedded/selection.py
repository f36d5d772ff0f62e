"""Selects the nodes that this controller plays, and the requests for them."""

import re
from collections.abc import Callable, Mapping

import msgspec

from kwokctl.errors import UsageError

Requirement = Callable[[Mapping[str, str]], bool]

_WORD = r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?"
_KEY = rf"(?P<key>(?:[a-z0-9][a-z0-9.-]{{0,252}}/)?{_WORD})"
"""A key and a value of a label:
https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/."""
_SET = re.compile(rf"{_KEY}\s+(?P<operator>in|notin)\s*\((?P<values>[^()]*)\)", re.ASCII)
_EQUAL = re.compile(rf"{_KEY}\s*(?P<operator>==|=|!=)\s*(?P<value>(?:{_WORD})?)", re.ASCII)
_PRESENT = re.compile(rf"(?P<not>!?)\s*{_KEY}", re.ASCII)
_COMMA = re.compile(r",(?![^()]*\))")


class Selection(msgspec.Struct, frozen=True, kw_only=True):
    """The nodes that are managed: all, one by name, or those that match selectors.

    Labels and the name are left to the API server to select; annotations it cannot select.
    """

    node_name: str = ""
    label_selector: str = ""
    annotations: tuple[Requirement, ...] = ()
    disregard: tuple[Requirement, ...] = ()
    """Nodes and pods whose annotations match these are left alone."""
    disregard_labels: tuple[Requirement, ...] = ()
    """Nodes and pods whose labels match these are left alone."""

    @property
    def node_field_selector(self) -> str:
        """Return the field selector for the list of nodes."""
        return f"metadata.name={self.node_name}" if self.node_name else ""

    @property
    def pod_field_selector(self) -> str:
        """Return the field selector for the list of pods that may be on such nodes."""
        return f"spec.nodeName={self.node_name}" if self.node_name else "spec.nodeName!="

    def manages(self, annotations: Mapping[str, str], labels: Mapping[str, str]) -> bool:
        """Return whether a node that the API server has selected is managed."""
        return all(holds(annotations) for holds in self.annotations) and not self.disregards(
            annotations, labels
        )

    def selects(self, name: str, annotations: Mapping[str, str], labels: Mapping[str, str]) -> bool:
        """Return whether a node that was read by its name, and not listed, is managed."""
        return (
            self.node_name in ("", name)
            and all(holds(labels) for holds in requirements(self.label_selector))
            and self.manages(annotations, labels)
        )

    def disregards(self, annotations: Mapping[str, str], labels: Mapping[str, str]) -> bool:
        """Return whether a node or a pod must not be played."""
        return bool(self.disregard and all(holds(annotations) for holds in self.disregard)) or bool(
            self.disregard_labels and all(holds(labels) for holds in self.disregard_labels)
        )


def select(
    *,
    all_nodes: bool = False,
    single_node: str = "",
    annotation_selector: str = "",
    label_selector: str = "",
    disregard_annotation_selector: str = "",
    disregard_label_selector: str = "",
) -> Selection:
    """Return which nodes are managed; UsageError unless exactly one way of choosing is given.

    An annotation selector and a label selector together are one way: both must match.
    """
    ways = [
        name
        for name, given in (
            ("--manage-all-nodes", all_nodes),
            ("--manage-single-node", bool(single_node)),
            ("--manage-nodes-with-… selectors", bool(annotation_selector or label_selector)),
        )
        if given
    ]
    if not ways:
        raise UsageError(
            "no nodes are managed",
            hint="give --manage-all-nodes, --manage-single-node, "
            "--manage-nodes-with-annotation-selector or --manage-nodes-with-label-selector",
        )
    if len(ways) > 1:
        raise UsageError(f"{' and '.join(ways)} exclude each other", hint="give only one of them")
    requirements(label_selector)
    return Selection(
        node_name=single_node,
        label_selector=label_selector,
        annotations=requirements(annotation_selector),
        disregard=requirements(disregard_annotation_selector),
        disregard_labels=requirements(disregard_label_selector),
    )


def requirements(selector: str) -> tuple[Requirement, ...]:
    """Parse a Kubernetes selector, such as `a=b,c!=d,e in (f,g),!h`; all parts must hold."""
    parts = (part.strip() for part in _COMMA.split(selector))
    return tuple(_requirement(part) for part in parts if part)


def _requirement(part: str) -> Requirement:
    if found := _SET.fullmatch(part):
        key, values = found["key"], {value.strip() for value in found["values"].split(",")}
        if found["operator"] == "in":
            return lambda have: have.get(key) in values
        return lambda have: have.get(key) not in values
    if found := _EQUAL.fullmatch(part):
        key, value = found["key"], found["value"]
        if found["operator"] == "!=":
            return lambda have: have.get(key) != value
        return lambda have: have.get(key) == value
    if found := _PRESENT.fullmatch(part):
        key, wanted = found["key"], not found["not"]
        return lambda have: (key in have) == wanted
    raise UsageError(
        f"'{part}' is not part of a selector",
        hint="write key=value, key!=value, key in (a,b), key notin (a,b), key or !key",
    )
