"""Collects what the user of a cluster changes about its components, and checks it."""

from collections.abc import Iterable, Iterator, Sequence

from kwokctl.clusters.configuration.volumes import check_paths, in_containers, unseen
from kwokctl.components.catalog import catalog
from kwokctl.config.config_documents import Document
from kwokctl.config.extras.extra import ExtraComponent
from kwokctl.config.options import ClusterOptions
from kwokctl.config.patches.patch import Patches, joined
from kwokctl.config.patches.patch_reader import check_component, patches_in, patches_of
from kwokctl.model import ComponentName
from kwokctl.runtime import Runtime


def wanted_patches(options: ClusterOptions, documents: Sequence[Document]) -> Patches:
    """Return what documents and, over them, `--extra-args` change about components.

    Raises UsageError and ConfigError for an invalid patch, or one for an unknown component.
    """
    known = (*catalog(), *(extra.name for extra in options.extras))
    given = patches_in(documents)
    for patch in given:
        check_component("'componentsPatches'", patch.name, known)
        check_paths(patch.name, patch.volumes)
    return joined((*given, *patches_of(options.arguments.extra, known).values()))


def idle_patches(patches: Patches, names: Sequence[ComponentName]) -> Iterator[str]:
    """Name the patches of components that a cluster does not have."""
    for name in patches:
        if name not in names:
            yield f"the cluster has no '{name}', so what is changed about it has no effect"


def unseen_volumes(
    runtime: Runtime, patches: Patches, extras: Iterable[ExtraComponent]
) -> Iterator[str]:
    """Say which volumes processes of this machine do not see at the place that they name."""
    for name, patch in patches.items():
        definition = catalog().get(ComponentName(name))
        if not in_containers(runtime) or (definition and definition.embedded):
            yield from unseen(runtime, name, patch.volumes)
    for extra in extras:
        if not in_containers(runtime):
            yield from unseen(runtime, extra.name, extra.volumes)
