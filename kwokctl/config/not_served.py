"""Lists the original's options that are not supported yet: refused by name, never ignored."""

from dataclasses import dataclass, replace

_NOTHING: tuple[object, ...] = (None, "", "0", 0, False, [], {})
"""Values that ask for nothing, so that they are not refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotServed:
    """An option of the original that is refused by name because it is not supported yet."""

    flag: str = ""
    key: str = ""
    env: str = ""
    is_port: bool = False
    """Whether it holds a port of this machine."""
    is_switch: bool = False
    default: bool = False
    """The value of a switch that asks for nothing, so that it need not be refused."""

    def asks_for_nothing(self, value: object) -> bool:
        """Return whether a value asks for nothing that kwokctl does not do anyway."""
        if self.is_switch:
            return value is self.default
        return value in _NOTHING


def _flags(*names: str) -> tuple[NotServed, ...]:
    """Name options that have a flag, a variable and a key."""
    return tuple(NotServed(flag=f"--{n}", key=_camel(n), env=_variable(n)) for n in names)


def _keys(*names: str) -> tuple[NotServed, ...]:
    """Name options that have a variable and a key."""
    return tuple(NotServed(key=_camel(n), env=_variable(n)) for n in names)


def _addon(name: str, *parts: str) -> tuple[NotServed, ...]:
    """Name the options of one add-on that have a variable and a key."""
    return _keys(*(f"{name}-{part}" for part in parts))


def _variable(words: str) -> str:
    """Return the variable; the original leaves its own name out: `KWOK_CONTROLLER_IMAGE`."""
    return "KWOK_" + words.removeprefix("kwok-").upper().replace("-", "_")


def _camel(words: str) -> str:
    first, *rest = words.split("-")
    return first + "".join(word.title() for word in rest)


def _switch(flag: str, *, env: str, default: bool) -> NotServed:
    key = _camel(flag.removeprefix("--"))
    return NotServed(flag=flag, key=key, env=env, is_switch=True, default=default)


_IMAGES = ("version", "image-prefix", "image", "manifests")

NOT_SERVED: tuple[NotServed, ...] = (
    _switch("--secure-port", env="KWOK_SECURE_PORT", default=True),
    _switch("--kube-admission", env="KWOK_KUBE_ADMISSION", default=True),
    *(
        NotServed(key=key)
        for key in (
            "binSuffix",
            "cacheDir",
            "insecureKubeconfig",
            "kectlBinary",
            "kectlVersion",
            "runtimes",
        )
    ),
    *(NotServed(key=key, is_port=True) for key in ("etcdPeerPort", "jaegerOtlpGrpcPort")),
    *(
        replace(option, is_port=True)
        for option in _flags(
            "kube-apiserver-insecure-port", "prometheus-port", "jaeger-port", "kueueviz-port"
        )
    ),
    *_flags(
        "kube-scheduler-config",
        "kwok-controller-image",
        "prometheus-image",
        "jaeger-image",
        "prometheus-binary",
        "jaeger-binary",
        "etcd-binary-tar",
        "prometheus-binary-tar",
        "jaeger-binary-tar",
    ),
    *_keys("kwok-version", "kwok-binary-prefix", "kwok-image-prefix", "kubectl-image"),
    *_addon("prometheus", "version", "image-prefix", "binary-prefix"),
    *_addon("jaeger", "version", "image-prefix", "binary-prefix"),
    *_addon("metrics-server", "manifests"),
    *_addon("scheduler-plugins", "version", "image-prefix", "manifests"),
    *_addon("scheduler-plugins", "controller-image", "scheduler-image"),
    *_addon("kueue", *_IMAGES),
    *_keys("kueueviz-backend-image", "kueueviz-frontend-image"),
    *_addon("jobset", *_IMAGES),
    *_addon("lws", *_IMAGES),
    *_addon("descheduler", *_IMAGES),
    *(
        NotServed(
            key=_camel(f"node-readiness-controller-{part}"),
            env=_variable(f"node-readiness-{part}"),
        )
        for part in _IMAGES
    ),
)
