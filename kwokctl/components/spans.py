"""Says where spans of requests go, and how the API server and etcd are configured to send them.

The field calls what takes them a collector; it speaks OTLP over gRPC
(https://opentelemetry.io/docs/specs/otlp/), here without TLS, for neither program has any for it.
Jaeger is one, whose port is among its options; its description is with those of the other components.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import ClassVar

from kwokctl.components.command_line import Value
from kwokctl.components.setting import Setting
from kwokctl.config.declaring import (
    PROGRAMS,
    ComponentOptions,
    binary_option,
    image_option,
    option,
    port_option,
)
from kwokctl.config.tracing_options import host_and_port
from kwokctl.host.ports import LOOPBACK, joined
from kwokctl.model import ETCD, JAEGER, KUBE_APISERVER, ComponentName, Mount
from kwokctl.runtime import HOST

PROGRAM = "jaeger-all-in-one"


@dataclass(frozen=True, slots=True, kw_only=True)
class JaegerOptions(ComponentOptions):
    """The options of Jaeger."""

    component: ClassVar = JAEGER

    port: int = port_option("Pages of Jaeger; a port adds it to the cluster")
    otlp_grpc_port: int = port_option("OTLP of Jaeger", flag="", env="")
    binary: str = binary_option(f"Jaeger 1 ({PROGRAM})")
    archive: str = option(
        "",
        f"Same as --jaeger-binary ARCHIVE#{PROGRAM} (deprecated)",
        group=PROGRAMS,
        metavar="ARCHIVE",
        name="jaeger_binary_tar",
        deprecated=f"--jaeger-binary ARCHIVE#{PROGRAM}",
    )
    image: str = image_option("Jaeger 1 (all-in-one)")


_API_VERSIONS = ((34, "v1"), (27, "v1beta1"), (22, "v1alpha1"))
"""The newest version of the API server's file by the first minor release that reads it
(k8s.io/apiserver, pkg/apis/apiserver/*/register.go)."""
_GATE, _FIRST_UNGATED = "APIServerTracing", 27
"""The feature gate, and the first minor release in which it is on
(k8s.io/apiserver, pkg/features/kube_features.go)."""
_FIRST_STABLE_ETCD = (3, 6, 0)
"""The first release whose flags are not experimental (go.etcd.io/etcd/server/v3, embed/config.go)."""
_FIRST_SAMPLING_ETCD = (3, 5, 11)
"""The first release in which the rate can be chosen (go.etcd.io/etcd/server/v3, etcdmain/config.go)."""


def collector(setting: Setting, dialler: ComponentName) -> str:
    """Return the address at which a component dials the collector; empty if there is none."""
    if JAEGER in setting.artifacts:
        port = setting.options.of(JaegerOptions).otlp_grpc_port
        return setting.address(JAEGER, dialler=dialler, port=port)
    given = setting.options.tracing.endpoint
    if not given:
        return ""
    host, port = host_and_port(given)
    is_process = setting.site.bind(dialler) == LOOPBACK
    return given if is_process or not _is_this_host(host) else joined(HOST, port)


def etcd_flags(setting: Setting, release: str) -> dict[str, Value]:
    """Return the flags of a release of etcd that make it send spans; none without a collector."""
    address = collector(setting, ETCD)
    if not address:
        return {}
    number = _numbers(release)
    values: dict[str, Value] = {
        "enable-distributed-tracing": True,
        "distributed-tracing-address": address,
        "distributed-tracing-service-name": ETCD,
    }
    if number >= _FIRST_SAMPLING_ETCD:
        values["distributed-tracing-sampling-rate"] = setting.options.tracing.rate
    prefix = "" if number >= _FIRST_STABLE_ETCD else "experimental-"
    return {f"{prefix}{name}": value for name, value in values.items()}


def api_server_flags(setting: Setting) -> dict[str, Value]:
    """Return the flags that make the API server send spans, and those of its feature gates."""
    gates = setting.options.arguments.feature_gates
    if not collector(setting, KUBE_APISERVER):
        return {"feature-gates": gates or None}
    needed = f"{_GATE}=true" if setting.kube_minor < _FIRST_UNGATED else ""
    return {
        "feature-gates": ",".join(filter(None, (needed, gates))) or None,
        "tracing-config-file": str(setting.site.path(setting.paths.tracing)),
    }


def api_server_files(setting: Setting) -> Mapping[Path, str]:
    """Return the file in which the API server reads where to send spans.

    https://kubernetes.io/docs/concepts/cluster-administration/system-traces/ describes its form.
    """
    address = collector(setting, KUBE_APISERVER)
    if not address:
        return {}
    version = next(word for first, word in _API_VERSIONS if setting.kube_minor >= first)
    document = {
        "apiVersion": f"apiserver.config.k8s.io/{version}",
        "kind": "TracingConfiguration",
        "endpoint": address,
        "samplingRatePerMillion": setting.options.tracing.rate,
    }
    return {setting.paths.tracing: json.dumps(document, indent=2) + "\n"}


def api_server_mounts(setting: Setting) -> tuple[Mount, ...]:
    """Return how the API server sees that file."""
    return tuple(map(setting.mount, api_server_files(setting)))


def environment(setting: Setting, name: ComponentName) -> Mapping[str, str]:
    """Return the variable that distinguishes the spans of several clusters.

    Every OpenTelemetry SDK reads it (https://opentelemetry.io/docs/specs/otel/resource/sdk/); the name
    is that of https://opentelemetry.io/docs/specs/semconv/resource/k8s/.
    """
    if not collector(setting, name):
        return {}
    return {"OTEL_RESOURCE_ATTRIBUTES": f"k8s.cluster.name={setting.paths.root.name}"}


def controller_flags(setting: Setting, name: ComponentName) -> dict[str, Value]:
    """Return the flags that make a controller other than kwokctl's send spans."""
    address = collector(setting, name)
    if not address:
        return {}
    rate = setting.options.tracing.rate
    return {"tracing-endpoint": address, "tracing-sampling-rate-per-million": rate}


def _is_this_host(host: str) -> bool:
    try:
        found = ip_address(host)
    except ValueError:
        return host == "localhost"
    return found.is_loopback or found.is_unspecified


def _numbers(release: str) -> tuple[int, ...]:
    """Return the numbers of a release without what marks it as a preliminary one."""
    return tuple(int(number) for number in release.partition("-")[0].split("."))
