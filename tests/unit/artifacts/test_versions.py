import pytest

from kwokctl.artifacts.node_images import _PUBLISHED
from kwokctl.artifacts.versions import (
    DEFAULT_KUBE_VERSION,
    etcd_release,
    etcd_version,
    known_kube_versions,
    kube_version,
    minor,
    prometheus_module,
    prometheus_version,
)
from kwokctl.errors import UsageError
from tests.support.flags_of_releases import KUBERNETES


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("1.36.3", "v1.36.3"),
        ("v1.36.3", "v1.36.3"),
        (" v1.36.3 ", "v1.36.3"),
        ("1.36", DEFAULT_KUBE_VERSION),
        ("v1.35", "v1.35.8"),
        ("1.22", "v1.22.17"),
        ("v1.33.0-alpha.1.55+abcdef", "v1.33.0-alpha.1.55+abcdef"),
    ],
)
def test_a_kubernetes_version_has_its_v_and_its_newest_patch(text: str, version: str) -> None:
    assert kube_version(text) == version


def test_the_newest_patch_is_none_older_than_those_that_are_known() -> None:
    taken = {minor(each): int(each.rpartition(".")[2]) for each in known_kube_versions()}
    images = [each for digests in _PUBLISHED.values() for each in digests]

    assert taken.keys() == KUBERNETES.keys()
    for number, patch in [*KUBERNETES.items(), *((minor(e), int(e.split(".")[2])) for e in images)]:
        assert taken[number] >= patch or number == minor(DEFAULT_KUBE_VERSION)


@pytest.mark.parametrize(
    "text", ["", "latest", "1.99", "1.21", "v1", "1.36.3.4", "v1.36.x", "v1.36.3/.."]
)
def test_anything_else_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError, match="is not a Kubernetes version") as caught:
        kube_version(text)

    assert "'v1.36.3'" in str(caught.value.hint)


@pytest.mark.parametrize("text", ["2.0.0", "v0.9.1", "10.1.0"])
def test_a_version_that_no_kubernetes_has_is_refused_by_its_name(text: str) -> None:
    with pytest.raises(UsageError, match=f"there is no Kubernetes v{text.removeprefix('v')}"):
        kube_version(text)


@pytest.mark.parametrize(
    ("version", "module"),
    [
        ("3.12.0", "v0.312.0"),
        ("v3.5.1", "v0.305.1"),
        ("v2.42.0", "v0.42.0"),
        ("v3.12.0-rc.0", "v0.312.0-rc.0"),
    ],
)
def test_the_module_of_prometheus_has_versions_of_its_own(version: str, module: str) -> None:
    assert prometheus_module(prometheus_version(version)) == module


def test_the_minor_number_is_the_second() -> None:
    assert minor("1.36.3") == 36


@pytest.mark.parametrize(
    ("kube", "etcd"),
    [
        ("1.7.0", "3.0.17"),
        ("1.8.0", "3.0.17"),
        ("1.10.13", "3.1.12"),
        ("1.11.10", "3.2.18"),
        ("1.13.12", "3.2.24"),
        ("1.15.12", "3.3.10"),
        ("1.16.15", "3.3.17"),
        ("1.18.20", "3.4.3"),
        ("1.21.14", "3.4.13"),
        ("1.22.17", "3.5.12"),
        ("1.28.15", "3.5.12"),
        ("1.30.14", "3.5.21"),
        ("1.33.13", "3.5.24"),
        ("1.34.4", "3.6.16"),
        ("1.36.3", "3.6.16"),
        ("1.99.0", "3.6.16"),
    ],
)
def test_the_version_of_etcd_follows_the_minor_release_of_kubernetes(kube: str, etcd: str) -> None:
    assert etcd_version(kube) == etcd


@pytest.mark.parametrize("text", ["3.6.16", "v3.6.16", "3.6.16-0", "v3.6.16-0"])
def test_an_etcd_version_is_written_as_its_release_is(text: str) -> None:
    assert etcd_release(text) == "3.6.16"


def test_what_is_no_etcd_version_is_refused() -> None:
    with pytest.raises(UsageError, match="'3' is not an etcd version"):
        etcd_release("3")
