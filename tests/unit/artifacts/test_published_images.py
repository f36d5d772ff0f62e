""""""

import pytest

from kwokctl.artifacts.programs import PROGRAMS
from kwokctl.artifacts.published_images import IMAGE_PROGRAMS, published, registry_of
from kwokctl.errors import ArtifactError, UsageError


@pytest.mark.parametrize(
    ("name", "version", "prefix", "image"),
    [
        ("kube-apiserver", "v1.36.3", "", "registry.k8s.io/kube-apiserver:v1.36.3"),
        ("kube-apiserver", "1.36.3", "here:5000/kube/", "here:5000/kube/kube-apiserver:v1.36.3"),
        ("kube-scheduler", "v1.30.0+own", "", "registry.k8s.io/kube-scheduler:v1.30.0_own"),
        ("etcd", "3.6.16", "", "registry.k8s.io/etcd:3.6.16-0"),
        ("etcd", "v3.5.21-0", "", "registry.k8s.io/etcd:3.5.21-0"),
        ("etcd", "3.5.21-1", "", "registry.k8s.io/etcd:3.5.21-1"),
        ("etcd", "3.3.10", "", "registry.k8s.io/etcd:3.3.10"),
        ("metrics-server", "0.9.0", "", "registry.k8s.io/metrics-server/metrics-server:v0.9.0"),
        ("prometheus", "3.12.0", "", "docker.io/prom/prometheus:v3.12.0"),
        ("metrics-server", "v0.9.0", "here/ms", "here/ms/metrics-server:v0.9.0"),
    ],
)
def test_an_image_is_named_as_its_project_names_it(
    name: str, version: str, prefix: str, image: str
) -> None:
    assert published(name, version, prefix) == image


def test_what_is_no_version_or_no_program_has_no_image() -> None:
    with pytest.raises(UsageError):
        published("etcd", "latest")
    with pytest.raises(ArtifactError):
        published("nginx", "1.0.0")


def test_what_has_an_image_is_a_program_that_is_known() -> None:
    assert set(IMAGE_PROGRAMS) < set(PROGRAMS)


@pytest.mark.parametrize(
    ("image", "host"),
    [
        ("registry.k8s.io/etcd:3.6.16-0", "registry.k8s.io"),
        ("localhost/etcd", "localhost"),
        ("here:5000/etcd:v3", "here:5000"),
        ("bitnami/etcd:3", "docker.io"),
        ("etcd", "docker.io"),
    ],
)
def test_the_registry_of_an_image_is_its_first_part_if_that_is_a_host(
    image: str, host: str
) -> None:
    assert registry_of(image) == host
