"""Lists the original's options that kwokctl does not serve, each with the reason.

One that asks for something is refused; one that can change nothing here is accepted, and a warning
says so. What is for a component is refused if the cluster has that. None is ignored.
"""

import msgspec

from kwokctl.replacing import replace

_NOTHING: tuple[object, ...] = (None, "", "0", 0, False, [], {})
"""Values that ask for nothing, so that they are not refused."""


class NotServed(msgspec.Struct, frozen=True, kw_only=True):
    """An option of the original that kwokctl does not serve."""

    flag: str = ""
    key: str = ""
    env: str = ""
    reason: str
    """Why, or what to use in its place: a phrase for people."""
    type: type = str
    """The type of its values."""
    is_port: bool = False
    """Whether it holds a port of this machine."""
    is_idle: bool = False
    """Whether it can change nothing here, so that it is accepted with a warning."""
    idle_unless: str = ""
    """The component or add-on that it is for: where that is enabled, the option is refused."""
    default: object = ""
    """The original's default; it asks for nothing. Empty where the original computes it."""

    @property
    def field(self) -> str:
        """Its name among all options."""
        return self.flag.removeprefix("--").replace("-", "_") or self.key

    @property
    def outcome(self) -> str:
        """Say how it is refused: by an error, or by a warning where nothing depends on it."""
        if self.idle_unless:
            return f"an error where '{self.idle_unless}' is enabled, else a warning"
        return "a warning" if self.is_idle else "an error"

    def asks_for_nothing(self, value: object) -> bool:
        """Return whether a value asks for nothing that kwokctl does not do anyway."""
        if self.type is bool:
            return value is self.default
        return value in _NOTHING or value == self.default

    def refusal(self, place: str) -> str:
        """Write the message that refuses it at the place where it is given."""
        return f"{place} is not supported: {self.reason}"


def _flags(*names: str, reason: str) -> tuple[NotServed, ...]:
    """Name options that have a flag, a variable and a key."""
    return tuple(
        NotServed(flag=f"--{n}", key=_camel(n), env=_variable(n), reason=reason) for n in names
    )


def _keys(*names: str, reason: str) -> tuple[NotServed, ...]:
    """Name options that have a variable and a key."""
    return tuple(NotServed(key=_camel(n), env=_variable(n), reason=reason) for n in names)


def _addon(name: str, version: str, manifests: tuple[str, ...] = ()) -> tuple[NotServed, ...]:
    """Name the options of one add-on, with the original's defaults: its version and its manifests."""
    of_version, of_manifests = _idle(
        _keys(
            f"{name}-version",
            f"{name}-manifests",
            reason=f"the add-on '{name}' sets it in its folder; copy that with 'kwokctl addons copy', edit the copy and enable it",
        )
    )
    return (
        replace(of_version, idle_unless=name, default=version),
        replace(of_manifests, idle_unless=name, type=list, default=list(manifests)),
    )


def _idle(options: tuple[NotServed, ...]) -> tuple[NotServed, ...]:
    return tuple(replace(option, is_idle=True) for option in options)


def _variable(words: str) -> str:
    """Return the variable; the original leaves its own name out: `KWOK_CONTROLLER_IMAGE`."""
    return "KWOK_" + words.removeprefix("kwok-").upper().replace("-", "_")


def _camel(words: str) -> str:
    first, *rest = words.split("-")
    return first + "".join(word.title() for word in rest)


_RELEASES = "https://github.com/kubernetes-sigs/{}/releases/download/{}/{}.yaml"
_OWN = "the controller is a part of kwokctl, which downloads no other"
_KECTL = "kectl is a part of kwokctl"
_OWN_JAEGER = "kwokctl does not download jaeger; give it with --jaeger-binary or --jaeger-image"

NOT_SERVED: tuple[NotServed, ...] = (
    NotServed(
        flag="--secure-port",
        key="securePort",
        env="KWOK_SECURE_PORT",
        type=bool,
        default=True,
        reason="kube-apiserver has had no port without TLS since Kubernetes 1.20",
    ),
    NotServed(key="binSuffix", reason="programs for Linux have no suffix"),
    NotServed(
        key="cacheDir",
        is_idle=True,
        reason="all clusters share one store of programs; XDG_CACHE_HOME chooses its folder",
    ),
    NotServed(key="kectlBinary", is_idle=True, reason=_KECTL),
    NotServed(key="kectlVersion", is_idle=True, reason=_KECTL),
    NotServed(
        key="etcdPeerPort",
        type=int,
        is_port=True,
        is_idle=True,
        default=0,
        reason="etcd has one member, which needs no port for peers",
    ),
    *(
        replace(option, type=int, is_port=True, default=0)
        for option in _flags(
            "kueueviz-port", reason="'--enable kueue,kueueviz' adds kueueviz, and chooses its port"
        )
    ),
    *_flags(
        "kwok-controller-image",
        reason="the controller is a process of this machine, not a container; --kwok-controller-binary replaces it",
    ),
    *_idle(_keys("kwok-version", "kwok-binary-prefix", "kwok-image-prefix", reason=_OWN)),
    *_idle(_keys("kubectl-image", reason="kwokctl runs kubectl as a program of this machine")),
    *_idle(
        _keys("jaeger-version", "jaeger-image-prefix", "jaeger-binary-prefix", reason=_OWN_JAEGER)
    ),
    *(
        replace(
            option,
            type=list,
            is_idle=True,
            idle_unless="metrics-server",
            default=[_RELEASES.format("metrics-server", "v0.8.1", "components")],
        )
        for option in _keys(
            "metrics-server-manifests", reason="kwokctl makes the objects of metrics-server itself"
        )
    ),
    *_addon("scheduler-plugins", "v0.34.7"),
    *_addon("kueue", "v0.18.1", (_RELEASES.format("kueue", "v0.18.1", "manifests"),)),
    *_addon("jobset", "v0.12.0", (_RELEASES.format("jobset", "v0.12.0", "manifests"),)),
    *_addon("lws", "v0.9.0", (_RELEASES.format("lws", "v0.9.0", "manifests"),)),
    *_addon("descheduler", "v0.36.0"),
    *(
        replace(option, env=option.env.replace("_CONTROLLER", ""))
        for option in _addon(
            "node-readiness-controller",
            "v0.3.0",
            (
                _RELEASES.format("node-readiness-controller", "v0.3.0", "crds"),
                _RELEASES.format("node-readiness-controller", "v0.3.0", "install"),
            ),
        )
    ),
)
