"""Parses versions of Kubernetes, etcd and kind."""

import re

from kwokctl.errors import UsageError

DEFAULT_KUBE_VERSION = "v1.36.3"
DEFAULT_KIND_VERSION = "v0.33.0"
DEFAULT_METRICS_SERVER_VERSION = "v0.9.0"
DEFAULT_PROMETHEUS_VERSION = "v3.12.0"

_PATCHES = {
    22: 17, 23: 17, 24: 17, 25: 16, 26: 15, 27: 16, 28: 15, 29: 15,
    30: 14, 31: 14, 32: 13, 33: 4, 34: 11, 35: 8, 36: 3, 37: 2,
}  # fmt: skip
"""The patch of each minor release of Kubernetes that is taken where none is named: of the default one that with
which all is tested, of others the newest one known (those of which flags were read, and kind has images)."""
_MINOR = re.compile(r"v?1\.(\d+)", re.ASCII)
_VERSION = re.compile(r"v?(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?)", re.ASCII)

_ETCD_BY_MINOR = {
    8: "3.0.17",
    9: "3.1.12",
    11: "3.2.18",
    12: "3.2.24",
    14: "3.3.10",
    16: "3.3.17",
    17: "3.4.3",
    19: "3.4.13",
    22: "3.5.12",
    29: "3.5.21",
    31: "3.5.24",
    34: "3.6.16",
}
"""The etcd release for this minor release of Kubernetes and later ones."""


def kube_version(text: str) -> str:
    """Return a Kubernetes version with its leading `v`: `1.36.3` becomes `v1.36.3`, and so does `1.36`.

    Pre-releases and build metadata are kept. Raises UsageError for anything else, and for a version
    that no Kubernetes has.
    """
    short = _MINOR.fullmatch(text.strip())
    if short and int(short[1]) in _PATCHES:
        return f"v1.{int(short[1])}.{_PATCHES[int(short[1])]}"
    number = _number(text, "a Kubernetes version", DEFAULT_KUBE_VERSION)
    if not number.startswith("1."):
        raise UsageError(
            f"there is no Kubernetes v{number}: its versions begin with 1",
            hint=f"choose one such as '{DEFAULT_KUBE_VERSION}'",
        )
    return f"v{number}"


def known_kube_versions() -> list[str]:
    """Return the version of each minor release that is taken where no patch is named, the newest first."""
    return [f"v1.{minor}.{patch}" for minor, patch in sorted(_PATCHES.items(), reverse=True)]


def kind_version(text: str) -> str:
    """Return a version of kind with its leading `v`; raises UsageError for anything else."""
    return f"v{_number(text, 'a version of kind', DEFAULT_KIND_VERSION)}"


def metrics_server_version(text: str) -> str:
    """Return a version of metrics-server with its leading `v`; UsageError for anything else."""
    return f"v{_number(text, 'a version of metrics-server', DEFAULT_METRICS_SERVER_VERSION)}"


def prometheus_version(text: str) -> str:
    """Return a version of Prometheus with its leading `v`; raises UsageError for anything else."""
    return f"v{_number(text, 'a version of Prometheus', DEFAULT_PROMETHEUS_VERSION)}"


def prometheus_module(version: str) -> str:
    """Return the version of Prometheus' Go module: that of v3.12.0 is v0.312.0, of v2.42.0 v0.42.0.

    https://github.com/prometheus/prometheus#prometheus-code-base-as-a-library
    """
    major, minor, patch = version.removeprefix("v").split(".", 2)
    return f"v0.{minor}.{patch}" if major == "2" else f"v0.{major}{minor:>02}.{patch}"


def minor(kube: str) -> int:
    """Return the minor number of a Kubernetes version: 36 for `v1.36.3`."""
    return int(kube_version(kube).split(".")[1])


def etcd_version(kube: str) -> str:
    """Return the etcd release, without a `v`, that goes with a Kubernetes version.

    Releases older or newer than the table get its first or last line.
    """
    wanted = max(minor(kube), min(_ETCD_BY_MINOR))
    return _ETCD_BY_MINOR[max(first for first in _ETCD_BY_MINOR if first <= wanted)]


def etcd_release(text: str) -> str:
    """Return an etcd version as its release names it: `v3.6.16` and `3.6.16-0` become `3.6.16`.

    The `-0` belongs to the container image. Raises UsageError for anything else.
    """
    return _number(text, "an etcd version", "3.6.16").removesuffix("-0")


def _number(text: str, kind: str, example: str) -> str:
    match = _VERSION.fullmatch(text.strip())
    if match is None:
        raise UsageError(
            f"'{text}' is not {kind}", hint=f"write all three numbers, such as '{example}'"
        )
    return match[1]
