import re

import pytest

from kwokctl.artifacts.node_images import published_node
from kwokctl.artifacts.versions import DEFAULT_KIND_VERSION, DEFAULT_KUBE_VERSION, minor

KIND = DEFAULT_KIND_VERSION
OTHERS = "docker.io/kindest"


def test_the_default_versions_of_kind_and_kubernetes_are_a_pair_that_kind_publishes() -> None:
    node = published_node(KIND, DEFAULT_KUBE_VERSION, is_exact=False)

    name, _, digest = node.image.partition("@")
    assert re.fullmatch(r"sha256:[0-9a-f]{64}", digest)
    assert node.tag == name
    assert minor(name.rpartition(":")[2]) == minor(DEFAULT_KUBE_VERSION)


def test_the_image_of_a_release_is_pinned_by_its_digest() -> None:
    node = published_node("0.33.0", "1.36.4", is_exact=True)

    assert node.image == (
        "docker.io/kindest/node:v1.36.4"
        "@sha256:099e049362a1526b2db71494e1947aae99bd16290d7c895f2b7ea312e3cbfaed"
    )
    assert node.remark == ""


def test_without_a_chosen_version_another_patch_release_is_used_with_a_note() -> None:
    node = published_node("v0.33.0", "v1.36.3", is_exact=False)

    assert node.tag == "docker.io/kindest/node:v1.36.4"
    assert "the node has Kubernetes v1.36.4" in node.remark


def test_a_chosen_version_is_pulled_although_no_image_of_it_is_known() -> None:
    node = published_node("v0.33.0", "v1.36.3", is_exact=True)

    assert node.image == "docker.io/kindest/node:v1.36.3"
    assert "v1.37.0, v1.36.4, v1.35.8, v1.34.11, and none of v1.36.3" in node.remark


@pytest.mark.parametrize("is_exact", [False, True])
def test_a_minor_version_without_a_known_image_is_reported(is_exact: bool) -> None:
    node = published_node("v0.33.0", "v1.30.0", is_exact=is_exact)

    assert node.image == "docker.io/kindest/node:v1.30.0"
    assert "none of v1.30.0" in node.remark


def test_for_another_release_of_kind_the_known_image_is_used_with_a_note() -> None:
    node = published_node("v0.30.0", "v1.36.4", is_exact=False)

    assert node.tag == "docker.io/kindest/node:v1.36.4"
    assert "no node images for kind v0.30.0" in node.remark


def test_an_image_in_another_registry_has_no_digest() -> None:
    node = published_node(KIND, "v1.36.4", prefix="mirror.example/k/", is_exact=False)

    assert node.image == node.tag == "mirror.example/k/node:v1.36.4"
