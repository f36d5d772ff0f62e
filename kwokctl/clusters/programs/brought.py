"""Gets the node image and programs of a cluster whose runtime brings components."""

from collections.abc import Mapping, Sequence

from kwokctl.clusters.programs.needed import programs, refuse_given, version_of
from kwokctl.clusters.programs.node_image import node_image, usual_node
from kwokctl.clusters.state.home import Home
from kwokctl.config.options import ClusterOptions
from kwokctl.model import ETCD, Artifact
from kwokctl.replacing import replace
from kwokctl.runtime import BringsKubernetes


async def with_brought(
    home: Home,
    runtime: BringsKubernetes,
    options: ClusterOptions,
    names: Sequence[str],
    *,
    settled: Mapping[str, Artifact] | None,
    is_exact: bool,
) -> dict[str, Artifact]:
    """Get the named programs as far as the runtime does not bring them, and what it runs itself.

    The image of the nodes comes first: without it there is no use for the programs, which may take
    minutes to build. A cluster that is `settled` has its nodes, or knows what they were made of.
    """
    refuse_given(runtime, options, names)
    brought = [name for name in names if name in runtime.brings]
    if settled is None:
        image = await node_image(home, runtime.node_images, options, is_exact=is_exact)
        named, kube = image.name, image.kube
    else:
        named, kube = options.tools.kind_node_image or usual_node(options).image, ""
    found = await programs(
        home, options, [runtime.maker, *(name for name in names if name not in brought)]
    )
    for name in brought:
        version = version_of(options, name) if name == ETCD or not kube else kube
        found[name] = (settled or {}).get(name) or Artifact(name=name, version=version)
    found[runtime.maker] = replace(found[runtime.maker], image=named)
    return found
