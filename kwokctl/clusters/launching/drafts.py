"""Decides what a new cluster is, but for its programs and ports: before anything is made of it."""

from collections.abc import Collection, Mapping, Sequence

import msgspec

from kwokctl.clusters import capacity
from kwokctl.clusters.configuration.component_patches import unseen_volumes
from kwokctl.clusters.programs.needed import manifest_names
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.kept_documents import (
    kept_documents,
    remarks,
    resource_templates,
    runtime_documents,
)
from kwokctl.clusters.state.resource_templates import load_templates
from kwokctl.clusters.state.saved import Saved
from kwokctl.clusters.wanted import WantedCluster, check_for_runtime, choose_runtime
from kwokctl.components.cluster_plan import needlessly_disabled
from kwokctl.components.definitions.etcd import EtcdOptions
from kwokctl.components.heartbeat import heartbeat
from kwokctl.config.config_documents import Document
from kwokctl.config.data_path import Choice
from kwokctl.config.node_options import ObjectOptions
from kwokctl.config.options import ClusterOptions, spellings, value_of
from kwokctl.config.original import compat
from kwokctl.config.profiles import PROFILES, Profile
from kwokctl.config.quantity import to_bytes
from kwokctl.config.resolve import Resolved
from kwokctl.errors import CapacityError
from kwokctl.host.memory import machine_memory
from kwokctl.model import METRICS_SERVER, Artifact, ClusterName, ComponentName
from kwokctl.replacing import replace
from kwokctl.runtime import BringsKubernetes, RunsImages, Runtime


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """A cluster that is to be made."""

    name: ClusterName
    wanted: WantedCluster
    documents: tuple[Document, ...]
    runtime: Runtime
    options: ClusterOptions
    is_exact: bool
    """Whether its user chose the version of Kubernetes."""

    @property
    def needed(self) -> list[str]:
        """The programs that must be available."""
        return needed_programs(self.options, self.wanted.names)

    def saved(self, options: ClusterOptions, found: Mapping[str, Artifact]) -> Saved:
        """Return the state of the cluster, with the ports in `options` and these programs."""
        return Saved(
            name=self.name,
            options=options,
            names=self.wanted.names,
            artifacts=found,
            patches=self.wanted.patches,
            stages=self.wanted.stages,
            kept=kept_documents(options, self.documents),
            templates=resource_templates(self.documents),
            documents=runtime_documents(self.runtime, self.documents),
        )


async def drafted(
    home: Home,
    name: ClusterName,
    wanted: WantedCluster,
    resolved: Resolved,
    documents: tuple[Document, ...],
    *,
    is_plan: bool = False,
) -> Draft:
    """Choose the runtime of a new cluster and check the request for it; report what was chosen.

    A plan needs no engine.

    Raises CapacityError for a profile that this machine is too small for.
    """
    runtime = await choose_runtime(home, wanted.options, is_plan=is_plan)
    by_engine = isinstance(runtime, RunsImages | BringsKubernetes)
    options = replace(
        wanted.options,
        runtime=runtime.name,
        # How many objects there are is not a setting of the cluster: they are scaled afterwards.
        objects=ObjectOptions(),
        restart=compat.restarts(
            wanted.options.restart,
            wanted.options.compat,
            is_chosen="restart" in resolved.chosen,
            by_engine=by_engine,
        ),
    )
    check_for_runtime(runtime, name, options, documents)
    load_templates(documents)  # what is wrong with one is said before anything is made
    for note in (*profile_notes(options, wanted.names, wanted.data_path), *wanted.notes):
        home.progress.note(note)
    unseen = unseen_volumes(runtime, wanted.patches, options.extras)
    for remark in (*remarks(documents), *needlessly_disabled(wanted.options), *unseen):
        home.progress.warn(remark)
    return Draft(
        name=name,
        wanted=wanted,
        documents=documents,
        runtime=runtime,
        options=options,
        is_exact="kube_version" in resolved.chosen,
    )


def needed_programs(options: ClusterOptions, names: Sequence[ComponentName]) -> list[str]:
    """Return the programs without which these components cannot be launched."""
    return [*names, *manifest_names(options)]


def profile_notes(
    options: ClusterOptions,
    names: Collection[ComponentName],
    data_path: Choice,
    *,
    memory: int | None = None,
) -> tuple[str, ...]:
    """Return what the chosen profile comes to, a line each; nothing if none is chosen.

    `memory` is this machine's unless given. Raises CapacityError if the cluster that the profile is for
    does not fit.
    """
    profile = PROFILES.get(options.profile)
    if profile is None:
        return ()
    fleet = capacity.Fleet(
        nodes=profile.nodes, pods=profile.pods, is_metered=METRICS_SERVER in names
    )
    found = capacity.estimate(
        fleet,
        heartbeat=heartbeat(options),
        quota=to_bytes(options.of(EtcdOptions).quota_backend_size),
        memory=machine_memory() if memory is None else memory,
        path=data_path.path,
    )
    if not found.fits:
        raise CapacityError(
            f"the profile '{options.profile}' does not fit: {found.why}",
            hint="choose a smaller --profile, or none and smaller objects; 'kwokctl plan --profile "
            f"{options.profile}' shows what it needs",
        )
    size = f"{profile.nodes:,} nodes and {profile.pods:,} pods"
    busy = f"heartbeats take {found.heartbeat_processors:.2f} processors"
    return (
        f"profile {options.profile}: {_settings(options, profile)}",
        f"with {size} {found.why}; {busy}",
    )


def _settings(options: ClusterOptions, profile: Profile) -> str:
    """Write the options of a profile with the values that the cluster has."""
    by_field = {each.field: each for each in spellings(options)}
    shown = (by_field[name] for name in profile.values)
    return ", ".join(f"{each.flag.lstrip('-')} {_word(value_of(options, each))}" for each in shown)


def _word(value: object) -> object:
    return ("off", "on")[value] if isinstance(value, bool) else value
