"""The first day of a user: an empty home folder, the installed command, the real components."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from kwokctl.artifacts.resolve import store_of
from kwokctl.artifacts.target import here
from kwokctl.artifacts.versions import DEFAULT_KUBE_VERSION, etcd_version
from kwokctl.host.paths import cache_dir
from tests.support.newcomer import Newcomer, newcomer

_PROGRAMS = {
    **dict.fromkeys(
        ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl"),
        DEFAULT_KUBE_VERSION,
    ),
    **dict.fromkeys(("etcd", "etcdctl", "etcdutl"), etcd_version(DEFAULT_KUBE_VERSION)),
}
"""The version of each program that a cluster takes by default."""


@pytest.fixture
def user() -> Iterator[Newcomer]:
    """Give each test a user of its own."""
    with newcomer() as user:
        yield user


@pytest.fixture(scope="session")
def real_programs(programs: None) -> Mapping[str, Path]:
    """Return where the programs are in the store of who runs the tests."""
    store = store_of(cache_dir(), here())
    found = {name: store.find(name, version) for name, version in _PROGRAMS.items()}
    if missing := [name for name, entry in found.items() if entry is None]:
        pytest.skip(f"not in the store: {', '.join(missing)}")
    return {name: entry.path for name, entry in found.items() if entry}
