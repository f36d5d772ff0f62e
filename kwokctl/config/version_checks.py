"""Checks the versions that options name, as `checks` does other values."""

from collections.abc import Callable

from kwokctl.artifacts.versions import (
    DEFAULT_KUBE_VERSION,
    etcd_release,
    kind_version,
    known_kube_versions,
    kube_version,
    metrics_server_version,
    prometheus_version,
)
from kwokctl.config.checks import InvalidText
from kwokctl.errors import KwokctlError

OLDEST_MINOR = 22
"""The first release of Kubernetes that has etcd 3.5: whose API server's client of etcd is of 3.5
(k8s.io/apiserver@v0.22.0/go.mod), as is the oldest etcdutl, with which snapshots are restored."""
OLDEST_ETCD = (3, 5)
"""The first release of etcd that has etcdutl (https://github.com/etcd-io/etcd/blob/main/CHANGELOG/CHANGELOG-3.5.md)."""


def kubernetes(word: str) -> InvalidText | None:
    """Accept a version of Kubernetes whose components understand the arguments they are given."""
    known = known_kube_versions()
    hint = (
        f"Kubernetes 1.{OLDEST_MINOR} and later are supported; for example: {DEFAULT_KUBE_VERSION}, or without "
        f"a patch from 1.{OLDEST_MINOR} to {known[0][1:].rpartition('.')[0]}"
    )
    try:
        major, minor, _ = kube_version(word)[1:].split(".", 2)
    except KwokctlError:
        return InvalidText("not a Kubernetes version of three numbers, the first of them 1", hint)
    if major != "1" or int(minor) < OLDEST_MINOR:
        return InvalidText("a Kubernetes version that is not supported", hint)
    return None


def etcd(word: str) -> InvalidText | None:
    """Accept a version of etcd that has etcdutl."""
    fault = _version(word, etcd_release, "3.6.16")
    if fault or _numbers(etcd_release(word)) >= OLDEST_ETCD:
        return fault
    return InvalidText(
        "an etcd version that is not supported",
        "etcd 3.5 and later are: snapshots are restored with etcdutl, which older releases do not have",
    )


def kind(word: str) -> InvalidText | None:
    """Accept a version of kind."""
    return _version(word, kind_version, "v0.33.0")


def metrics_server(word: str) -> InvalidText | None:
    """Accept a version of metrics-server."""
    return _version(word, metrics_server_version, "v0.9.0")


def prometheus(word: str) -> InvalidText | None:
    """Accept a version of Prometheus."""
    return _version(word, prometheus_version, "v3.12.0")


def _numbers(version: str) -> tuple[int, ...]:
    """Return the first two numbers of a version."""
    return tuple(int(number) for number in version.split(".")[:2])


def _version(word: str, read: Callable[[str], str], example: str) -> InvalidText | None:
    try:
        read(word)
    except KwokctlError:
        return InvalidText("not a version with three numbers", f"for example: {example}")
    return None
