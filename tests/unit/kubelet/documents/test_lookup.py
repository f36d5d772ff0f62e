from kwokctl.kubelet.documents.lookup import (
    ClusterDocument,
    DocumentEntry,
    Lookup,
    PodDocument,
    PodSelector,
)
from tests.support.kubelet_rig import pod


def entry(value: str, *names: str) -> DocumentEntry[str]:
    return DocumentEntry(frozenset(names), value)


def cluster(
    name: str, *entries: DocumentEntry[str], **selects: tuple[str, ...]
) -> ClusterDocument[str]:
    return ClusterDocument(name=name, selector=PodSelector(**selects), entries=entries)


def own(name: str, *entries: DocumentEntry[str], namespace: str = "default") -> PodDocument[str]:
    return PodDocument(namespace=namespace, name=name, entries=entries)


def test_the_document_of_the_pod_comes_before_those_of_the_cluster() -> None:
    lookup = Lookup([own("app", entry("own"))], [cluster("all", entry("all"))])

    assert lookup.find(pod("app"), "c") == "own"
    assert lookup.find(pod("other"), "c") == "all"
    assert lookup.find(pod("app", namespace="elsewhere"), "c") == "all"


def test_the_document_of_the_pod_counts_alone_even_if_it_says_nothing() -> None:
    lookup = Lookup([own("app", entry("own", "x"))], [cluster("all", entry("all"))])

    assert lookup.find(pod("app"), "x") == "own"
    assert lookup.find(pod("app"), "c") is None


def test_an_entry_that_names_the_container_comes_before_one_that_names_none() -> None:
    lookup = Lookup([own("app", entry("any"), entry("first", "c"), entry("second", "c"))])

    assert lookup.find(pod("app"), "c") == "first"
    assert lookup.find(pod("app"), "d") == "any"


def test_the_first_document_of_the_cluster_that_says_something_counts() -> None:
    lookup = Lookup(
        [],
        [
            cluster("names", entry("names"), match_names=("app",)),
            cluster("spaces", entry("spaces"), match_namespaces=("default",)),
            cluster("only-x", entry("x", "x")),
            cluster("rest", entry("rest")),
        ],
    )

    assert lookup.find(pod("app"), "c") == "names"
    assert lookup.find(pod("other"), "c") == "spaces"
    assert lookup.find(pod("other", namespace="a"), "c") == "rest"
    assert lookup.find(pod("other", namespace="a"), "x") == "x"


def test_where_nothing_is_said_nothing_is_found() -> None:
    assert Lookup[str]().find(pod(), "c") is None
