"""Describes Jaeger, which keeps and shows the spans of requests.

It is Jaeger 1, whose program is called jaeger-all-in-one
(https://www.jaegertracing.io/docs/1.76/getting-started/); kwokctl does not get it, its user gives it.
"""

from collections.abc import Collection

from kwokctl.components.command_line import flags
from kwokctl.components.definition import Definition
from kwokctl.components.setting import Setting
from kwokctl.components.spans import PROGRAM, JaegerOptions
from kwokctl.config.options import ClusterOptions
from kwokctl.errors import UsageError
from kwokctl.host.ports import joined
from kwokctl.model import JAEGER, Component, ComponentName, HttpProbe, OwnManner, Port

_KEPT = 10_000
"""The traces that it keeps before it drops the oldest: without a limit it takes all memory."""
_UNUSED = (
    "admin.http",
    "collector.grpc-server",
    "collector.http-server",
    "collector.otlp.http",
    "query.grpc-server",
)
"""Servers that no component needs: at any port of loopback, so that no two clusters collide."""

_SILENT = {"OTEL_TRACES_SAMPLER": "always_off"}
"""It would send spans of its own requests to the usual port of this machine, where anything may listen
(https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/)."""


def check_jaeger(options: ClusterOptions, names: Collection[ComponentName]) -> None:
    """Raise UsageError for a cluster with Jaeger that has no program for it, or another collector."""
    if JAEGER not in names:
        return
    own = options.of(JaegerOptions)
    if not own.binary and not own.image:
        raise UsageError(
            f"'{JAEGER}' needs a program or an image, and none is given",
            hint=f"give --jaeger-binary {PROGRAM} or, for containers, --jaeger-image "
            "docker.io/jaegertracing/all-in-one:1.76.0; or run any collector and name it with "
            "--tracing-endpoint",
        )
    if options.tracing.endpoint:
        raise UsageError(
            f"spans go to one collector, and there are two: '{JAEGER}' and "
            f"'{options.tracing.endpoint}'",
            hint=f"leave out --tracing-endpoint or {JAEGER}",
        )


def jaeger(setting: Setting) -> Component:
    """Describe Jaeger; it starts first, together with those that send to it."""
    own, bind = setting.options.of(JaegerOptions), setting.bind(JAEGER)
    url = f"http://{setting.address(JAEGER)}"
    pages, spans = _port("http", setting, own.port), _port("otlp", setting, own.otlp_grpc_port)
    return Component(
        name=JAEGER,
        artifact=setting.artifacts[JAEGER],
        args=flags(
            {
                "query.http-server.host-port": joined(bind, pages.port),
                "collector.otlp.enabled": True,
                "collector.otlp.grpc.host-port": joined(bind, spans.port),
                **{f"{name}.host-port": "127.0.0.1:0" for name in _UNUSED},
                "memory.max-traces": _KEPT,
            },
            setting.user_args(JAEGER),
        ),
        env=_SILENT,
        ports=(pages, spans),
        ready=(HttpProbe(url=f"{url}/api/services"),),
        url=url,
        own=OwnManner(),
    )


def _port(name: str, setting: Setting, host_port: int) -> Port:
    return Port(name=name, port=setting.site.port(JAEGER, host_port), host_port=host_port)


def _version(_: ClusterOptions) -> str:
    return "v1"


DEFINITION = Definition(
    options=JaegerOptions,
    build=jaeger,
    version=_version,
    is_added_by_port=True,
)
