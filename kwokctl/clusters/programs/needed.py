"""Determines which programs a cluster needs, and gets them."""

import shutil
from collections.abc import Sequence

from kwokctl.artifacts.locations import Order, place
from kwokctl.artifacts.program_platform import here
from kwokctl.artifacts.programs import ON_REQUEST
from kwokctl.artifacts.resolve_programs import ArtifactSource, WantedProgram, resolve
from kwokctl.artifacts.versions import kube_version
from kwokctl.clusters.state.home import Home
from kwokctl.components.catalog import catalog
from kwokctl.components.cluster_plan import selected
from kwokctl.components.definitions.jaeger import check_jaeger
from kwokctl.components.definitions.metrics_server import MetricsServerOptions
from kwokctl.components.definitions.prometheus import PrometheusOptions
from kwokctl.config.extras.extra import MANIFESTS
from kwokctl.config.options import ClusterOptions
from kwokctl.errors import UsageError
from kwokctl.model import ETCD, Artifact, ComponentName
from kwokctl.progress import Silent
from kwokctl.runtime import BringsKubernetes

TOOLS = ("kubectl", "etcdctl", "etcdutl")


async def programs(
    home: Home, options: ClusterOptions, names: Sequence[str]
) -> dict[str, Artifact]:
    """Find, fetch or build the named programs in the versions that the options ask for."""
    wanted = [wanted_program(options, name) for name in names if not is_embedded(options, name)]
    found = await resolve(
        wanted,
        source=source_of(options.programs.source),
        cache=home.cache,
        progress=Silent() if options.programs.quiet else home.progress,
        prefixes=prefixes(options),
    )
    return found | {name: each for name in names if (each := embedded(options, name))}


def components(options: ClusterOptions) -> tuple[ComponentName, ...]:
    """Name the components of a cluster whose programs or images are to be fetched.

    Raises what `selected` does, and UsageError for a program that kwokctl does not fetch and the user does not give.
    """
    names = selected(options)
    check_jaeger(options, names)
    return names


def beforehand(options: ClusterOptions) -> tuple[ComponentName, ...]:
    """Name the components to fetch before there is a cluster: also those that many add, if not disabled.

    Raises what `components` does.
    """
    own = components(options)
    return (
        *own,
        *map(ComponentName, sorted(ON_REQUEST.difference(own, options.selection.disable))),
    )


def refuse_given(runtime: BringsKubernetes, options: ClusterOptions, names: Sequence[str]) -> None:
    """Raise UsageError for programs that are given for components which the runtime brings itself."""
    for name in names:
        if name in runtime.brings and given_program(options, name):
            raise UsageError(
                f"'--{name}-binary' is not for this runtime: '{name}' comes with '{runtime.maker}'",
                hint="leave it out, give another image of the node, or choose another --runtime",
            )


def addresses(options: ClusterOptions, names: Sequence[str]) -> list[str]:
    """List where the files of the named programs are published; not those given by path."""
    needed = [name for name in names if has_file(options, name)]
    placed = (place(wanted_program(options, name), here(), prefixes(options)) for name in needed)
    return sorted({found.url for found in placed if isinstance(found, Order) and found.url})


def embedded(options: ClusterOptions, name: str) -> Artifact | None:
    """Return the program that kwokctl brings for a component, unless the user gives one."""
    definition = catalog().get(ComponentName(name))
    return None if definition is None or given_program(options, name) else definition.embedded


def prefixes(options: ClusterOptions) -> dict[str, str]:
    """Return the mirrors of programs, by group."""
    return {
        "kubernetes": options.mirrors.kube_binary_prefix,
        "etcd": options.mirrors.etcd_binary_prefix,
        "kind": options.tools.kind_binary_prefix,
        "metrics-server": options.of(MetricsServerOptions).binary_prefix,
        "prometheus": options.of(PrometheusOptions).binary_prefix,
    }


def image_prefixes(options: ClusterOptions) -> dict[str, str]:
    """Return the mirrors of images, by the group of their programs."""
    return {
        "kubernetes": options.mirrors.kube_image_prefix,
        "etcd": options.mirrors.etcd_image_prefix,
        "metrics-server": options.of(MetricsServerOptions).image_prefix,
        "prometheus": options.of(PrometheusOptions).image_prefix,
    }


def has_file(options: ClusterOptions, name: str) -> bool:
    """Return whether a component may come as a file: it is no part of kwokctl, nor an image alone."""
    extra = options.described(name)
    return bool(extra.binary) if extra else not is_embedded(options, name)


def is_embedded(options: ClusterOptions, name: str) -> bool:
    """Return whether a component is part of kwokctl."""
    return embedded(options, name) is not None


def is_versioned(options: ClusterOptions, name: str) -> bool:
    """Return whether a component's version is known: not if a program or an image was given for it.

    Of a component that the user has described it is what the user has said.
    """
    if options.described(name):
        return True
    return not (given_program(options, name) or given_image(options, name))


def wanted_program(options: ClusterOptions, name: str) -> WantedProgram:
    """Return what is wanted of a program, in the version that the options ask for."""
    explicit = given_program(options, name) or (_on_path(options) if name == "kind" else "")
    return WantedProgram(name=name, version=version_of(options, name), explicit=explicit or None)


def version_of(options: ClusterOptions, name: str) -> str:
    """Return the version of a program that the options ask for."""
    if name == "kind":
        return options.tools.kind_version
    if extra := options.described(name):
        return extra.version
    released_with = ETCD if name in {"etcdctl", "etcdutl"} else ComponentName(name)
    definition = catalog().get(released_with)
    return definition.version(options) if definition else kube_version(options.kube_version)


def given_program(options: ClusterOptions, name: str) -> str:
    """Return the program that was given for a component or a tool, or an empty string."""
    if extra := options.described(name):
        return extra.binary
    if name.endswith(MANIFESTS):
        return manifest_source(options, name)
    if name in catalog():
        return options.component(ComponentName(name)).binary
    tools = {
        "etcdctl": options.tools.etcdctl,
        "etcdutl": options.tools.etcdutl,
        "kubectl": options.tools.kubectl,
        "kind": options.tools.kind_binary,
    }
    return tools.get(name, "")


def manifest_names(options: ClusterOptions) -> list[str]:
    """Name the manifests that components of add-ons take from Go modules, whatever the runtime."""
    return [
        f"{each.name}{MANIFESTS}"
        for each in options.extras
        if each.add_on and each.add_on.manifest_source
    ]


def manifest_source(options: ClusterOptions, name: str) -> str:
    """Return where the manifests of a component of an add-on come from, by their name."""
    extra = options.described(name.removesuffix(MANIFESTS))
    return extra.add_on.manifest_source if extra and extra.add_on else ""


def given_image(options: ClusterOptions, name: str) -> str:
    """Return the image that was given for a component, or an empty string."""
    if extra := options.described(name):
        return extra.image
    return options.component(ComponentName(name)).image if name in catalog() else ""


def _on_path(options: ClusterOptions) -> str:
    """Return the user's own kind, unless a mirror is named for it."""
    return "" if options.tools.kind_binary_prefix else shutil.which("kind") or ""


def source_of(text: str) -> ArtifactSource:
    """Read the option that says where programs come from."""
    try:
        return ArtifactSource(text)
    except ValueError as e:
        raise UsageError(
            f"'{text}' is not a source of programs",
            hint=f"choose from: {', '.join(ArtifactSource)}",
        ) from e
