"""Translates deprecated options of the original into those that took their place."""

from collections.abc import Mapping

from kwokctl.config.given import Given
from kwokctl.replacing import replace

_ARCHIVES: Mapping[str, Mapping[str, str]] = {
    "etcd_binary_tar": {
        "etcd_binary": "etcd",
        "etcdctl_binary": "etcdctl",
        "etcdutl_binary": "etcdutl",
    },
    "prometheus_binary_tar": {"prometheus_binary": "prometheus"},
    "jaeger_binary_tar": {"jaeger_binary": "jaeger-all-in-one"},
}
"""By the option for an archive: the options for the programs in it, and their names there."""


def translated(given: Mapping[str, Given]) -> dict[str, Given]:
    """Return the options with the programs of archives added, unless these are given themselves."""
    programs = {
        field: replace(given[archive], value=f"{given[archive].value}#{member}")
        for archive, members in _ARCHIVES.items()
        if archive in given and given[archive].value
        for field, member in members.items()
        if field not in given
    }
    return {**given, **programs}
