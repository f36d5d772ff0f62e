import pytest

from kwokctl.embedded.selection import requirements, select
from kwokctl.errors import UsageError


@pytest.mark.parametrize(
    ("selector", "have", "holds"),
    [
        ("a=b", {"a": "b"}, True),
        ("a==b", {"a": "c"}, False),
        ("kwok.x-k8s.io/node=fake", {"kwok.x-k8s.io/node": "fake"}, True),
        ("a!=b", {}, True),
        ("a!=b", {"a": "b"}, False),
        ("a in (x, y)", {"a": "y"}, True),
        ("a in (x,y),b", {"a": "y"}, False),
        ("a notin (x,y)", {"a": "x"}, False),
        ("a notin (x,y)", {}, True),
        ("a", {"a": ""}, True),
        ("!a", {"a": ""}, False),
        ("!a,b=c", {"b": "c"}, True),
        ("a=", {"a": ""}, True),
        ("", {}, True),
    ],
)
def test_a_selector_holds_as_kubernetes_says(
    selector: str, have: dict[str, str], holds: bool
) -> None:
    assert all(part(have) for part in requirements(selector)) is holds


def test_a_wrong_selector_is_named() -> None:
    with pytest.raises(UsageError, match="a in b"):
        requirements("a in b")


def test_all_nodes_are_managed_on_request() -> None:
    selection = select(all_nodes=True)

    assert selection.manages({}, {})
    assert selection.node_field_selector == ""
    assert selection.pod_field_selector == "spec.nodeName!="


def test_a_single_node_is_selected_by_the_server() -> None:
    selection = select(single_node="n1")

    assert selection.node_field_selector == "metadata.name=n1"
    assert selection.pod_field_selector == "spec.nodeName=n1"


def test_label_and_annotation_selectors_must_both_match() -> None:
    selection = select(annotation_selector="a=b", label_selector="c=d")

    assert selection.label_selector == "c=d"
    assert selection.manages({"a": "b"}, {})
    assert not selection.manages({"a": "x"}, {})


def test_no_way_of_choosing_is_an_error() -> None:
    with pytest.raises(UsageError, match="no nodes are managed"):
        select()


@pytest.mark.parametrize(
    "ways",
    [
        {"all_nodes": True, "single_node": "n"},
        {"all_nodes": True, "annotation_selector": "a=b"},
        {"single_node": "n", "label_selector": "a=b"},
    ],
)
def test_two_ways_of_choosing_exclude_each_other(ways: dict[str, bool | str]) -> None:
    with pytest.raises(UsageError, match="exclude each other"):
        select(**ways)  # type: ignore[arg-type]  # a table of keyword arguments


def test_disregarded_objects_are_left_alone() -> None:
    selection = select(all_nodes=True, disregard_annotation_selector="hands=off")

    assert not selection.manages({"hands": "off"}, {})
    assert selection.disregards({"hands": "off"}, {})
    assert not selection.disregards({}, {})
