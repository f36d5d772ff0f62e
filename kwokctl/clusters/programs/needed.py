"""Which programs a cluster needs, and where they come from."""

import shutil
import sys
from collections.abc import Sequence

from kwokctl import __version__
from kwokctl.artifacts.locations import Order, place
from kwokctl.artifacts.resolve import Source, Wanted, resolve
from kwokctl.artifacts.target import here
from kwokctl.artifacts.versions import etcd_version, kube_version
from kwokctl.clusters.state.home import Home
from kwokctl.config.options import ClusterOptions
from kwokctl.errors import UsageError
from kwokctl.model import (
    ETCD,
    KUBE_APISERVER,
    KUBE_CONTROLLER_MANAGER,
    KUBE_SCHEDULER,
    KWOK_CONTROLLER,
    Artifact,
)
from kwokctl.progress import Silent
from kwokctl.runtime import BringsKubernetes

EXPLICIT = {
    ETCD: "etcd_binary",
    KUBE_APISERVER: "kube_apiserver_binary",
    KUBE_CONTROLLER_MANAGER: "kube_controller_manager_binary",
    KUBE_SCHEDULER: "kube_scheduler_binary",
    KWOK_CONTROLLER: "kwok_controller_binary",
    "kubectl": "kubectl_binary",
    "etcdctl": "etcdctl_binary",
    "etcdutl": "etcdutl_binary",
    "kind": "kind_binary",
}
"""Which option gives a program."""
TOOLS = ("kubectl", "etcdctl", "etcdutl")


async def programs(
    home: Home, options: ClusterOptions, names: Sequence[str]
) -> dict[str, Artifact]:
    """Find, fetch or build the named programs in the versions that the options ask for."""
    wanted = [wanted_program(options, name) for name in names if not is_embedded(options, name)]
    found = await resolve(
        wanted,
        source=source_of(options.artifact_source),
        cache=home.cache,
        progress=Silent() if options.quiet_pull else home.progress,
        prefixes=prefixes(options),
    )
    if any(is_embedded(options, name) for name in names):
        found[KWOK_CONTROLLER] = embedded_controller()
    return found


def refuse_given(runtime: BringsKubernetes, options: ClusterOptions, names: Sequence[str]) -> None:
    """Raise UsageError for programs given for components of which the runtime has its own."""
    for name in names:
        field = EXPLICIT.get(name, "")
        if name in runtime.brings and getattr(options, field):
            raise UsageError(
                f"'--{field.replace('_', '-')}' is not for this runtime: '{name}' comes with "
                f"'{runtime.maker}'",
                hint="leave it out, give another image of the node, or choose another --runtime",
            )


def addresses(options: ClusterOptions, names: Sequence[str]) -> list[str]:
    """List where the files of the named programs are published; not those given by path."""
    needed = [name for name in names if not is_embedded(options, name)]
    placed = (place(wanted_program(options, name), here(), prefixes(options)) for name in needed)
    return sorted({found.url for found in placed if isinstance(found, Order)})


def embedded_controller() -> Artifact:
    """Return the fake-node controller that comes with kwokctl."""
    return Artifact(
        name=KWOK_CONTROLLER,
        version=__version__,
        command=(sys.executable, "-P", "-m", "kwokctl.controller"),
    )


def prefixes(options: ClusterOptions) -> dict[str, str]:
    """Return the mirrors of programs, by group."""
    return {
        "kubernetes": options.kube_binary_prefix,
        "etcd": options.etcd_binary_prefix,
        "kind": options.kind_binary_prefix,
    }


def is_embedded(options: ClusterOptions, name: str) -> bool:
    """Tell whether a component is kwokctl itself."""
    return name == KWOK_CONTROLLER and not options.kwok_controller_binary


def is_versioned(options: ClusterOptions, name: str) -> bool:
    """Tell whether a program's version is known: not that of a controller that its user has given."""
    return name != KWOK_CONTROLLER or is_embedded(options, name)


def wanted_program(options: ClusterOptions, name: str) -> Wanted:
    """Return what is wanted of a program, in the version that the options ask for."""
    explicit = getattr(options, EXPLICIT[name]) or (_on_path(options) if name == "kind" else "")
    return Wanted(name=name, version=version_of(options, name), explicit=explicit or None)


def version_of(options: ClusterOptions, name: str) -> str:
    """Return the version of a program that the options ask for."""
    if name == "kind":
        return options.kind_version
    kube = kube_version(options.kube_version)
    is_etcd = name in {ETCD, "etcdctl", "etcdutl"}
    return (options.etcd_version or etcd_version(kube)) if is_etcd else kube


def _on_path(options: ClusterOptions) -> str:
    """Return the user's own kind, unless a mirror is named for it."""
    return "" if options.kind_binary_prefix else shutil.which("kind") or ""


def source_of(text: str) -> Source:
    """Read the option that says where programs come from."""
    try:
        return Source(text)
    except ValueError as e:
        raise UsageError(
            f"'{text}' is not a source of programs", hint=f"choose from: {', '.join(Source)}"
        ) from e
