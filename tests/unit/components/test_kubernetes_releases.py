"""Each release of Kubernetes gets the arguments and the probes that it knows."""

import json
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from kwokctl.components.definitions.etcd import version
from kwokctl.config.options import ClusterOptions
from kwokctl.config.version_checks import OLDEST_MINOR
from kwokctl.model import (
    ETCD,
    KUBE_APISERVER,
    KUBE_CONTROLLER_MANAGER,
    KUBE_SCHEDULER,
    ComponentName,
)
from kwokctl.runtime import Site
from tests.support import golden
from tests.support.options import changed
from tests.support.patches import patched
from tests.support.sites import ContainerLikeSite, HostLikeSite
from tests.unit.components.test_cluster_plan import EVERYTHING_ELSE, OPTIONS, plan

NEWEST = 37
IN_GO = (ETCD, KUBE_APISERVER, KUBE_CONTROLLER_MANAGER, KUBE_SCHEDULER)
FLAGS = json.loads(golden.read("flags.json"))
"""The flags that each release defines, as `tests/support/flags_of_releases.py` has read them."""


def of_release(options: ClusterOptions, minor: int) -> ClusterOptions:
    return changed(options, kube_version=f"v1.{minor}.0")


def defined(name: ComponentName, minor: int) -> Iterator[str]:
    for span, words in FLAGS[name].items():
        first, last = map(int, span.split("-"))
        if first <= minor <= last:
            yield from words.split()


def health_path(name: ComponentName, minor: int) -> str:
    first, *_ = plan(of_release(OPTIONS, minor)).components[name].ready
    return urlsplit(first.url).path


@pytest.mark.parametrize("minor", range(28, NEWEST + 1))
def test_arguments_and_probes_of_a_release_are_as_they_were_reviewed(minor: int) -> None:
    made = plan(of_release(OPTIONS, minor)).components

    lines = [
        line
        for name in IN_GO
        for line in (name, *made[name].args, *(f"ready: {p.url}" for p in made[name].ready), "")
    ]
    golden.check(f"components/releases/1.{minor}.txt", "\n".join(lines))


@pytest.mark.parametrize("minor", range(OLDEST_MINOR, NEWEST + 1))
@pytest.mark.parametrize("options", [OPTIONS, EVERYTHING_ELSE], ids=["default", "everything-else"])
@pytest.mark.parametrize("site", [HostLikeSite(), ContainerLikeSite()], ids=["host", "containers"])
def test_every_flag_is_defined_in_the_source_of_the_release(
    minor: int, options: ClusterOptions, site: Site
) -> None:
    wanted = of_release(options, minor)
    made = plan(wanted, site).components
    of_etcd = int(version(wanted).split(".")[1])

    for name in IN_GO:
        known = set(defined(name, of_etcd if name == ETCD else minor))
        flags = {word.removeprefix("--").partition("=")[0] for word in made[name].args}
        assert flags <= known, name


def test_a_flag_that_came_later_is_left_out() -> None:
    flag = "--shutdown-watch-termination-grace-period=1s"

    assert flag not in plan(of_release(OPTIONS, 26)).components[KUBE_APISERVER].args
    assert flag in plan(of_release(OPTIONS, 27)).components[KUBE_APISERVER].args


def test_a_flag_of_the_user_is_passed_on_whatever_the_release() -> None:
    own = patched(KUBE_APISERVER, {"shutdown-watch-termination-grace-period": "3s"})

    made = plan(of_release(OPTIONS, 26), patches=own)

    args = made.components[KUBE_APISERVER].args

    assert args[-1] == "--shutdown-watch-termination-grace-period=3s"


def test_the_scheduler_is_asked_for_its_health_where_it_does_not_say_when_it_is_ready() -> None:
    assert health_path(KUBE_SCHEDULER, 30) == "/healthz"
    assert health_path(KUBE_SCHEDULER, 31) == "/readyz"
    assert health_path(KUBE_APISERVER, OLDEST_MINOR) == "/readyz"
