"""Chooses which way fake kubelets and `scale` write. Pure.

Only the options of a cluster count here. What can only be found out in the running cluster
(webhooks, policies, quotas, whether etcd's values can be read) is decided later, for each kind of
object.
"""

from collections.abc import Iterable, Iterator

from kwokctl.components.cluster_plan import selected
from kwokctl.components.definitions.kube_apiserver import KubeApiserverOptions
from kwokctl.config.data_path import Choice
from kwokctl.config.options import ClusterOptions
from kwokctl.config.patches.patch import ComponentPatch, Patches
from kwokctl.config.patches.patch_reader import patches_of
from kwokctl.model import KUBE_APISERVER, KWOK_API_PROXY, KWOK_CONTROLLER

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


def choose_data_path(options: ClusterOptions, *, patches: Patches | None = None) -> Choice:
    """Choose how to write in a cluster of this kwokctl.

    `patches` are what its user changes about components; without them the words in `options` count.
    """
    if options.data_path.path == "api":
        return Choice(path="api", why="as requested")
    if patches is None:
        named = [word.partition("=")[0] for word in options.arguments.extra]
        patches = patches_of(options.arguments.extra, named)
    patch = patches.get(KUBE_APISERVER, ComponentPatch(name=KUBE_APISERVER))
    skipped = next(_obstacles(options, (*patch.args, *sorted(patch.removed))), "")
    if options.data_path.path == "etcd":
        return _insisted(skipped)
    if skipped:
        return Choice(path="api", why=skipped)
    return Choice(path="etcd", why=f"fast; see --data-path{_of_webhooks(options)}")


def _of_webhooks(options: ClusterOptions) -> str:
    """Return a remark on the kinds that webhooks of add-ons see; empty if no add-on has webhooks."""
    add_ons = [each.add_on for each in options.extras if each.add_on is not None]
    names = dict.fromkeys(f"'{each.name}'" for each in add_ons if each.webhooks is not None)
    if not names:
        return ""
    return f"; kinds that webhooks of {', '.join(names)} see: through the API server"


def _insisted(skipped: str) -> Choice:
    if skipped:
        return Choice(path="etcd", why=f"as requested, although {skipped}")
    return Choice(path="etcd", why="as requested; admission, validation and audit do not see them")


def _obstacles(options: ClusterOptions, flags: Iterable[str]) -> Iterator[str]:
    """Name each reason not to bypass the API server unless the user asks for that."""
    if options.of(KubeApiserverOptions).audit_policy:
        yield "the audit log would not show writes to etcd"
    if options.component(KWOK_CONTROLLER).binary:
        yield "another controller than the embedded one is used"
    names = selected(options)
    if KWOK_CONTROLLER not in names:
        yield f"the cluster has no '{KWOK_CONTROLLER}'"
    if KWOK_API_PROXY in names:
        yield "faults of the API would not hit writes to etcd"
    for flag in flags:
        if flag.startswith("audit-"):
            yield f"'{flag}' of the API server would not see writes to etcd"
        elif flag in _SEEN_BY_OTHERS:
            yield f"'{flag}' of the API server would not apply"
        elif flag in _STORED_ELSEWHERE:
            yield f"'{flag}' of the API server changes where or how objects are stored"
