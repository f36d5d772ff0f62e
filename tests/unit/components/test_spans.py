"""Spans of requests: who sends them, to which collector, and as which release understands it."""

import json
from pathlib import Path
from typing import Any

import pytest

from kwokctl.components.cluster_plan import build_plan, selected
from kwokctl.components.definitions.jaeger import check_jaeger
from kwokctl.components.setting import Setting
from kwokctl.config.options import ClusterOptions
from kwokctl.errors import UsageError
from kwokctl.host.paths import ClusterPaths
from kwokctl.model import (
    ETCD,
    JAEGER,
    KUBE_APISERVER,
    KWOK_CONTROLLER,
    Artifact,
    ClusterName,
    Component,
    ComponentName,
)
from kwokctl.runtime import HOST, Site
from tests.support.options import changed, cluster_options
from tests.support.sites import ContainerLikeSite, HostLikeSite

NAME = ClusterName("dev")
PATHS = ClusterPaths(Path("/home/me/.kwok/clusters/dev"))
TRACED = cluster_options(
    etcd_port=2379, kube_apiserver_port=6443, tracing_endpoint="127.0.0.1:4317"
)
WITH_JAEGER = cluster_options(
    enable=("jaeger",),
    jaeger_binary="/bin/true",
    jaeger_port=16686,
    jaeger_otlp_grpc_port=4317,
)


def components(options: ClusterOptions, site: Site | None = None) -> dict[ComponentName, Component]:
    names = selected(options)
    setting = Setting(
        site=site or HostLikeSite(),
        paths=PATHS,
        options=options,
        artifacts={name: Artifact(name=name, version="v0", command=("/p",)) for name in names},
    )
    return dict(build_plan(NAME, names, setting).components)


def document(options: ClusterOptions, site: Site | None = None) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        components(options, site)[KUBE_APISERVER].files[PATHS.tracing]
    )
    return found


def tracing_words(component: Component) -> list[str]:
    return [word for word in component.args if "tracing" in word]


def test_without_a_collector_no_component_sends_spans() -> None:
    found = components(cluster_options())

    assert not any(tracing_words(each) for each in found.values())
    assert PATHS.tracing not in found[KUBE_APISERVER].files


@pytest.mark.parametrize(
    ("minor", "version"),
    [(22, "v1alpha1"), (26, "v1alpha1"), (27, "v1beta1"), (33, "v1beta1"), (34, "v1"), (37, "v1")],
)
def test_the_api_server_reads_a_document_of_a_version_that_its_release_knows(
    minor: int, version: str
) -> None:
    traced = changed(TRACED, kube_version=f"v1.{minor}.0", tracing_sampling_rate_per_million=100)

    assert document(traced) == {
        "apiVersion": f"apiserver.config.k8s.io/{version}",
        "kind": "TracingConfiguration",
        "endpoint": "127.0.0.1:4317",
        "samplingRatePerMillion": 100,
    }


@pytest.mark.parametrize(
    ("minor", "own", "gates"),
    [
        (26, "", ["--feature-gates=APIServerTracing=true"]),
        (26, "A=true", ["--feature-gates=APIServerTracing=true,A=true"]),
        (27, "", []),
        (27, "A=true", ["--feature-gates=A=true"]),
    ],
)
def test_releases_in_which_it_is_an_alpha_feature_are_given_the_gate(
    minor: int, own: str, gates: list[str]
) -> None:
    traced = changed(TRACED, kube_version=f"v1.{minor}.0", kube_feature_gates=own)

    args = components(traced)[KUBE_APISERVER].args

    assert [word for word in args if word.startswith("--feature-gates")] == gates


@pytest.mark.parametrize(
    ("release", "prefix", "has_rate"),
    [
        ("3.5.0", "experimental-", False),
        ("3.5.10", "experimental-", False),
        ("3.5.11", "experimental-", True),
        ("3.6.0-rc.1", "", True),
        ("3.7.3", "", True),
    ],
)
def test_etcd_is_given_the_flags_of_its_release(release: str, prefix: str, has_rate: bool) -> None:
    found = components(changed(TRACED, etcd_version=release))[ETCD]

    rate = [f"--{prefix}distributed-tracing-sampling-rate=1000000"] if has_rate else []
    assert tracing_words(found) == [
        f"--{prefix}enable-distributed-tracing=true",
        f"--{prefix}distributed-tracing-address=127.0.0.1:4317",
        f"--{prefix}distributed-tracing-service-name=etcd",
        *rate,
    ]


def test_spans_say_which_cluster_they_are_of() -> None:
    found = components(TRACED)

    for name in (ETCD, KUBE_APISERVER):
        assert found[name].env["OTEL_RESOURCE_ATTRIBUTES"] == "k8s.cluster.name=dev"


@pytest.mark.parametrize(
    ("given", "dialled"),
    [
        ("127.0.0.1:4317", f"{HOST}:4317"),
        ("localhost:4317", f"{HOST}:4317"),
        ("[::1]:4317", f"{HOST}:4317"),
        ("0.0.0.0:4317", f"{HOST}:4317"),
        ("192.0.2.7:4317", "192.0.2.7:4317"),
        ("collector.example.com:4317", "collector.example.com:4317"),
    ],
)
def test_in_containers_a_loopback_address_is_that_of_the_host(given: str, dialled: str) -> None:
    traced = changed(TRACED, tracing_endpoint=given)

    found = components(traced, ContainerLikeSite())

    assert document(traced, ContainerLikeSite())["endpoint"] == dialled
    assert f"--distributed-tracing-address={dialled}" in found[ETCD].args
    seen = {str(mount.mount_path) for mount in found[KUBE_APISERVER].mounts}
    assert "/etc/kwok/tracing.json" in seen


def test_another_controller_is_told_where_the_collector_is() -> None:
    words = tracing_words(
        components(changed(TRACED, kwok_controller_binary="/bin/true"))[KWOK_CONTROLLER]
    )

    assert words == [
        "--tracing-endpoint=127.0.0.1:4317",
        "--tracing-sampling-rate-per-million=1000000",
    ]
    assert not tracing_words(components(TRACED)[KWOK_CONTROLLER])


def test_jaeger_takes_the_spans_of_the_others() -> None:
    found = components(WITH_JAEGER)

    assert document(WITH_JAEGER)["endpoint"] == "127.0.0.1:4317"
    assert "--distributed-tracing-address=127.0.0.1:4317" in found[ETCD].args
    assert "--collector.otlp.grpc.host-port=127.0.0.1:4317" in found[JAEGER].args
    assert found[JAEGER].url == "http://127.0.0.1:16686"
    assert [(port.name, port.host_port) for port in found[JAEGER].ports] == [
        ("http", 16686),
        ("otlp", 4317),
    ]


def test_in_containers_jaeger_is_dialled_by_its_name() -> None:
    assert document(WITH_JAEGER, ContainerLikeSite())["endpoint"] == "jaeger:4317"


def test_jaeger_uses_no_fixed_port_that_another_cluster_would_need() -> None:
    args = components(WITH_JAEGER)[JAEGER].args

    ports = {word.rpartition(":")[2] for word in args if "host-port" in word}
    assert ports == {"16686", "4317", "0"}


def test_a_port_of_jaeger_adds_it() -> None:
    assert JAEGER in selected(changed(WITH_JAEGER, enable=()))


def test_a_cluster_without_jaeger_needs_no_program_of_it() -> None:
    check_jaeger(TRACED, selected(TRACED))


def test_jaeger_without_a_program_is_refused_with_the_ways_to_have_one() -> None:
    with pytest.raises(UsageError, match="'jaeger' needs a program or an image") as refused:
        check_jaeger(changed(WITH_JAEGER, jaeger_binary=""), (JAEGER,))
    assert "--tracing-endpoint" in (refused.value.hint or "")


def test_two_collectors_are_refused() -> None:
    with pytest.raises(UsageError, match=r"there are two: 'jaeger' and '127.0.0.1:4317'"):
        check_jaeger(changed(WITH_JAEGER, tracing_endpoint="127.0.0.1:4317"), (JAEGER,))
