"""Chooses which way fake kubelets and `scale` write. Pure.

Only the options of a cluster count here. What can only be found out in the running cluster
(webhooks, policies, quotas, whether etcd's values can be read) is decided later, for each kind of
object.
"""

from collections.abc import Iterator, Mapping

from kwokctl.components.definitions.kube_apiserver import KubeApiserverOptions
from kwokctl.components.plan import selected
from kwokctl.config.data_path import Choice
from kwokctl.config.options import ClusterOptions
from kwokctl.config.resolve import parse_extra_args
from kwokctl.model import KUBE_APISERVER, KWOK_CONTROLLER

Arguments = Mapping[str, Mapping[str, str | None]]
"""Arguments of the user's for components: by component, then by flag."""

_STORED_ELSEWHERE = (
    "emulated-version",
    "encryption-provider-config",
    "etcd-prefix",
    "etcd-servers",
    "etcd-servers-overrides",
    "min-compatibility-version",
    "storage-media-type",
)
"""Flags of kube-apiserver that change where or how objects are stored."""
_SEEN_BY_OTHERS = ("admission-control", "admission-control-config-file", "enable-admission-plugins")
"""Flags of kube-apiserver that add admission or audit of each write."""


def choose_data_path(options: ClusterOptions, *, extra_args: Arguments | None = None) -> Choice:
    """Choose how to write in a cluster of this kwokctl.

    `extra_args` are those of a saved cluster; without them the ones in `options` count.
    """
    if options.data_path.path == "api":
        return Choice(path="api", why="as asked")
    if extra_args is None:
        named = [word.partition("=")[0] for word in options.arguments.extra]
        extra_args = parse_extra_args(options.arguments.extra, named)
    skipped = next(_obstacles(options, extra_args.get(KUBE_APISERVER, {})), "")
    if options.data_path.path == "etcd":
        return _insisted(skipped)
    if skipped:
        return Choice(path="api", why=skipped)
    return Choice(path="etcd", why="fast; see --data-path")


def _insisted(skipped: str) -> Choice:
    if skipped:
        return Choice(path="etcd", why=f"as asked, although {skipped}")
    return Choice(path="etcd", why="as asked; admission, validation and audit do not see them")


def _obstacles(options: ClusterOptions, arguments: Mapping[str, str | None]) -> Iterator[str]:
    """Name each reason not to bypass the API server unless the user asks for that."""
    if options.of(KubeApiserverOptions).audit_policy:
        yield "the audit log would not show what is written straight to etcd"
    if options.component(KWOK_CONTROLLER).binary:
        yield "another controller than the embedded one is used"
    if KWOK_CONTROLLER not in selected(options):
        yield f"the cluster has no '{KWOK_CONTROLLER}'"
    for flag in arguments:
        if flag.startswith("audit-"):
            yield f"'{flag}' of the API server would not see what is written straight to etcd"
        elif flag in _SEEN_BY_OTHERS:
            yield f"'{flag}' of the API server would not apply"
        elif flag in _STORED_ELSEWHERE:
            yield f"'{flag}' of the API server changes where or how objects are stored"
