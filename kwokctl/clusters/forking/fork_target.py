"""Determines what a fork is made of where it is to run, and refuses what cannot run there."""

import msgspec

from kwokctl.clusters.configuration.component_patches import unseen_volumes
from kwokctl.clusters.configuration.volumes import in_containers
from kwokctl.clusters.programs.images import artifacts
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.kept_documents import controller_options
from kwokctl.clusters.state.saved import Saved
from kwokctl.clusters.wanted import check_settings
from kwokctl.config.options import ClusterOptions, with_values
from kwokctl.errors import NotServedError
from kwokctl.model import ClusterName
from kwokctl.progress import Progress
from kwokctl.replacing import replace
from kwokctl.runtime import BringsKubernetes, Runtime


class ForkPlace(msgspec.Struct, frozen=True, kw_only=True):
    """The runtime, the node image and the source of programs for forks; empty ones are those of the source."""

    runtime: str = ""
    node_image: str = ""
    """Of which kind makes nodes."""
    artifact_source: str = ""

    def options(self, source: ClusterOptions) -> ClusterOptions:
        """Return the options of the source as they are here."""
        said = {
            "runtime": self.runtime,
            "kind_node_image": self.node_image,
            "artifact_source": self.artifact_source,
        }
        return with_values(source, {name: value for name, value in said.items() if value})


async def check_place(home: Home, source: Saved, place: ForkPlace, fork: ClusterName) -> None:
    """Raise NotServedError and UsageError for what of a source cannot run at a place.

    Raises UnavailableError if nothing can; `fork` is the name of one that is to be made.
    """
    options = place.options(source.options)
    runtime = home.runtime(options.runtime)
    _check_maker(home.runtime(source.options.runtime), runtime)
    _check_ports(source, runtime)
    for remark in unseen_volumes(runtime, source.patches, source.options.extras):
        home.progress.warn(remark)
    check_settings(runtime, fork, options, controller_options(source.kept))
    await runtime.check()


async def at_its_place(home: Home, source: Saved, place: ForkPlace) -> Saved:
    """Return the source as it would be if it ran at this place, with its programs and images got."""
    options = place.options(source.options)
    former, runtime = home.runtime(source.options.runtime), home.runtime(options.runtime)
    if options == source.options and not in_containers(runtime):
        return source
    # The image of nodes is no program of the source's: it is looked for as for a new cluster.
    is_other = runtime.name != former.name or isinstance(runtime, BringsKubernetes)
    settled = None if is_other else source.artifacts
    found = await artifacts(home, runtime, options, source.names, settled, is_exact=True)
    documents = source.documents if _is_for(runtime, former) else ()
    if documents != source.documents:
        _say_what_is_left_out(home.progress, source, former, runtime)
    return replace(source, options=options, artifacts=found, documents=documents)


def _say_what_is_left_out(
    progress: Progress, source: Saved, former: Runtime, runtime: Runtime
) -> None:
    progress.warn(
        f"the configuration of '{source.name}' for '{former.name}' is left out: it is not for the "
        f"runtime '{runtime.name}'"
    )


def _is_for(runtime: Runtime, former: Runtime) -> bool:
    """Return whether two runtimes take the same documents for the program that makes their clusters."""
    if isinstance(runtime, BringsKubernetes) and isinstance(former, BringsKubernetes):
        return runtime.documents == former.documents
    return False


def _check_maker(former: Runtime, runtime: Runtime) -> None:
    """Raise NotServedError where a fork would lack what the maker of the clusters adds to each."""
    if isinstance(runtime, BringsKubernetes) and not isinstance(former, BringsKubernetes):
        raise NotServedError(
            f"a cluster on the runtime '{former.name}' cannot be forked to '{runtime.name}': the fork would "
            f"lack the objects that '{runtime.maker}' makes for its own node",
            hint="choose another --runtime, or carry objects over with 'kwokctl snapshot save --format k8s'",
        )


def _check_ports(source: Saved, runtime: Runtime) -> None:
    """Raise NotServedError for a component whose ports kwokctl does not choose: both would have them."""
    for extra in source.options.extras:
        for port in () if extra.add_on else extra.ports:
            if in_containers(runtime) and not port.host_port:
                continue
            raise NotServedError(
                f"'--from' is not supported for clusters with the component '{extra.name}': "
                f"its port {port.host_port or port.port} is fixed, and in use by '{source.name}'",
                hint="save the cluster with 'kwokctl snapshot save', create another with other ports "
                "in its 'components', and restore it there",
            )
