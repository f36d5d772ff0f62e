"""Kinds are found by any of their names, those of custom resources by their definitions."""

import pytest

from kwokctl.dataplane.objects.resources import StoredResources, resources_with
from kwokctl.errors import NotFoundError

WIDGETS = {
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "widgets", "kind": "Widget", "shortNames": ["wd"]},
        "versions": [{"name": "v1"}, {"name": "v2"}],
    }
}


@pytest.fixture
def resources() -> StoredResources:
    return resources_with([WIDGETS])


@pytest.mark.parametrize(
    ("word", "folder"),
    [
        ("no", "minions"),
        ("nodes", "minions"),
        ("Node", "minions"),
        ("svc", "services/specs"),
        ("deployments.apps", "deployments"),
        ("deploy", "deployments"),
        ("ing", "ingress"),
        ("events", "events"),
        ("crd", "apiextensions.k8s.io/customresourcedefinitions"),
        ("wd", "example.com/widgets"),
        ("widget.example.com", "example.com/widgets"),
    ],
)
def test_a_kind_has_several_names(resources: StoredResources, word: str, folder: str) -> None:
    assert resources.find(word).folder == folder


def test_an_unknown_name_is_refused_with_the_nearest_one(resources: StoredResources) -> None:
    with pytest.raises(NotFoundError) as refused:
        resources.find("nods")
    assert refused.value.hint == "did you mean 'nodes'?"


def test_a_kind_is_found_with_the_versions_that_it_has(resources: StoredResources) -> None:
    assert resources.of_kind("example.com/v2", "Widget").is_custom
    assert resources.of_kind("apps/v1", "Deployment").folder == "deployments"

    with pytest.raises(NotFoundError, match="has no version"):
        resources.of_kind("example.com/v3", "Widget")
    with pytest.raises(NotFoundError, match="there is no kind 'Gadget'"):
        resources.of_kind("example.com/v1", "Gadget")


@pytest.mark.parametrize(
    ("key", "namespace"),
    [
        ("pods/default/web", "default"),
        ("services/endpoints/a/b", "a"),
        ("example.com/widgets/x/y", "x"),
        ("minions/node-0", None),
        ("masterleases/10.0.0.1", None),
    ],
)
def test_the_namespace_is_read_from_a_key(
    resources: StoredResources, key: str, namespace: str | None
) -> None:
    assert resources.namespace_of(key) == namespace


@pytest.mark.parametrize("definition", [{}, {"spec": []}, {"spec": {"group": "example.com"}}])
def test_a_definition_that_defines_nothing_is_left_out(definition: dict[str, object]) -> None:
    assert resources_with([definition]) == resources_with([])
