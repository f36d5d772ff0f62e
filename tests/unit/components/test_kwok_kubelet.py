from pathlib import Path
from typing import Any

import pytest

from kwokctl.components.definitions.kwok_kubelet import kwok_kubelet
from kwokctl.components.setting import Setting
from kwokctl.host.paths import ClusterPaths
from kwokctl.model import KWOK_KUBELET, Artifact
from tests.support.options import cluster_options
from tests.support.sites import HostLikeSite


def words(given: dict[str, Any], **options: Any) -> tuple[str, ...]:
    """Return the arguments of the kubelet server, where documents have given these options."""
    setting = Setting(
        site=HostLikeSite(),
        paths=ClusterPaths(Path("/home/me/.kwok/clusters/dev")),
        options=cluster_options(kubelet_port=10247, **options),
        artifacts={KWOK_KUBELET: Artifact(name=KWOK_KUBELET, version="v0", command=("/k",))},
        controller_options=given,
    )
    return kwok_kubelet(setting).args


@pytest.mark.parametrize(
    ("given", "compat", "expected"),
    [
        ({"enableProfilingHandler": True}, "", True),
        ({"enableProfilingHandler": False}, "kwokctl", False),
        ({}, "kwokctl", True),
        ({}, "", False),
    ],
)
def test_profiles_are_served_where_a_document_or_the_originals_defaults_say_so(
    given: dict[str, Any], compat: str, expected: bool
) -> None:
    assert ("--enable-profiling=true" in words(given, compat=compat)) is expected
