"""The differences between minor releases of Kubernetes in how components are run.

The tables name the first minor release that has something, with its source. What is in no table is the
same from the oldest release that is supported on; `tests/golden/flags.json` holds the flags that each
release defines.
"""

from collections.abc import Mapping

import msgspec

from kwokctl.components.command_line import Value
from kwokctl.model import KUBE_APISERVER, KUBE_SCHEDULER, ComponentName


class Since(msgspec.Struct, frozen=True):
    """The first minor release of Kubernetes that has something."""

    minor: int
    source: str


_FLAGS: Mapping[ComponentName, Mapping[str, Since]] = {
    KUBE_APISERVER: {
        "shutdown-watch-termination-grace-period": Since(
            27,
            "k8s.io/apiserver@v0.27.0/pkg/server/options/server_run_options.go",
        ),
    },
}
"""Flags that older releases do not know, and would not start with."""
_READYZ: Mapping[ComponentName, Since] = {
    KUBE_SCHEDULER: Since(31, "https://github.com/kubernetes/kubernetes/pull/118148"),
}
"""Components whose older releases only have `/healthz`."""

_STARTS_TOGETHER = Since(
    35, "k8s.io/kubernetes@v1.35.4/cmd/kube-controller-manager/app/controllermanager.go"
)
"""The release in which the controllers of the controller-manager start side by side, after their caches."""


def known(
    component: ComponentName, kube_minor: int, values: Mapping[str, Value]
) -> Mapping[str, Value]:
    """Return the flags without those that this minor release of a component does not have."""
    later = _FLAGS.get(component, {})
    return {
        flag: value
        for flag, value in values.items()
        if flag not in later or kube_minor >= later[flag].minor
    }


def starts_together(kube_minor: int) -> bool:
    """Return whether an interval between the starts of controllers delays each of them, not all together."""
    return kube_minor >= _STARTS_TOGETHER.minor


def health(component: ComponentName, kube_minor: int) -> str:
    """Return the path at which this minor release of a component says that it is ready."""
    first = _READYZ.get(component)
    return "healthz" if first and kube_minor < first.minor else "readyz"
