import pytest

from kwokctl.controller.stages.identifiers import container_id, image_id

DIGEST = "sha256:" + "0" * 64
UID = "0b4ac2f0-0000-4000-8000-5ba2f8a5d670"


def test_a_container_id_has_sixty_four_unique_digits() -> None:
    runtime, _, digits = container_id(UID, "web").partition("://")

    assert (runtime, len(digits)) == ("kwok", 64)
    assert int(digits, 16)
    assert container_id(UID, "web") != container_id(UID, "sidecar")


@pytest.mark.parametrize(
    ("image", "name"),
    [
        ("busybox", "docker.io/library/busybox"),
        ("busybox:1.36", "docker.io/library/busybox"),
        ("bitnami/kafka:3", "docker.io/bitnami/kafka"),
        ("registry.k8s.io/pause:3.10", "registry.k8s.io/pause"),
        ("localhost/own", "localhost/own"),
        ("host:5000/a/b:tag", "host:5000/a/b"),
        ("host:5000/a/b", "host:5000/a/b"),
    ],
)
def test_an_image_is_known_by_its_full_name_and_a_digest(image: str, name: str) -> None:
    before, _, digest = image_id(image).partition("@sha256:")

    assert (before, len(digest)) == (name, 64)
    assert image_id(image) != image_id(f"{name}:other")


def test_an_image_keeps_the_digest_that_is_given() -> None:
    assert image_id(f"nginx@{DIGEST}") == f"docker.io/library/nginx@{DIGEST}"
