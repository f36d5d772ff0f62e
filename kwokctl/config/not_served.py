"""The options of the original that are not served yet: refused by name, never ignored."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class NotServed:
    """An option of the original that is refused by name because it is not served yet."""

    flag: str = ""
    key: str = ""
    env: str = ""
    is_switch: bool = False
    default: bool = False
    """The value of a switch that asks for nothing, so that it need not be refused."""


def _programs_of(*names: str) -> tuple[NotServed, ...]:
    return tuple(
        NotServed(flag=f"--{n}", key=_camel(n), env="KWOK_" + n.upper().replace("-", "_"))
        for n in names
    )


def _camel(words: str) -> str:
    first, *rest = words.split("-")
    return first + "".join(word.title() for word in rest)


NOT_SERVED: tuple[NotServed, ...] = (
    NotServed(
        flag="--secure-port",
        key="securePort",
        env="KWOK_SECURE_PORT",
        is_switch=True,
        default=True,
    ),
    NotServed(
        flag="--kube-admission",
        key="kubeAdmission",
        env="KWOK_KUBE_ADMISSION",
        is_switch=True,
        default=True,
    ),
    NotServed(flag="--enable-metrics-server", key="enableMetricsServer", is_switch=True),
    NotServed(flag="--enable-crds", key="enableCRDs"),
    NotServed(key="etcdPeerPort"),
    *_programs_of(
        "kube-apiserver-insecure-port",
        "kube-scheduler-config",
        "prometheus-port",
        "jaeger-port",
        "kueueviz-port",
        "kwok-controller-image",
        "metrics-server-image",
        "prometheus-image",
        "jaeger-image",
        "metrics-server-binary",
        "prometheus-binary",
        "jaeger-binary",
        "etcd-binary-tar",
        "prometheus-binary-tar",
        "jaeger-binary-tar",
    ),
)
