"""Reads and writes the clusters on disk: the state that `create` saves and later commands read.

A cluster exists when its folder holds `kwok.yaml`: a KwokctlConfiguration with the resolved
options and the components, followed by the Stage documents that its controller plays, the other
documents that it is given, those for `scale`, and those that its runtime reads. The file has the original's shape; `status.maker` names the program that wrote it.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from kwokctl import __version__
from kwokctl.clusters.state.kept_documents import (
    FOR_RUNTIME,
    FOR_SCALE,
    controller_options,
    is_kept,
)
from kwokctl.components.catalog import usual_options
from kwokctl.components.choose_data_path import choose_data_path
from kwokctl.components.cluster_plan import build_plan
from kwokctl.components.setting import Setting
from kwokctl.config.data_path import Choice
from kwokctl.config.extras.extras_reader import GIVEN, read_extras
from kwokctl.config.nearest import did_you_mean
from kwokctl.config.option_keys import options_from_document, options_to_document
from kwokctl.config.options import ClusterOptions, spellings, with_values
from kwokctl.config.original.not_served import NOT_SERVED
from kwokctl.config.patches.patch import Patches, joined
from kwokctl.config.patches.patch_reader import FIELD, read_patches
from kwokctl.errors import ConfigError, ConflictError, NotFoundError
from kwokctl.expr import yaml
from kwokctl.host.carry_out import carry_out
from kwokctl.host.default_route import has_default_route
from kwokctl.host.paths import ClusterPaths, WorkDir
from kwokctl.json_value import Json
from kwokctl.model import Artifact, ClusterName, ComponentName, Plan
from kwokctl.replacing import replace
from kwokctl.runtime import BringsKubernetes, Runtime
from kwokctl.script.steps import FileText

API_VERSION = "config.kwok.x-k8s.io/v1alpha1"
MAKER = "kwokctl-python"
_FORMER_PORTS = frozenset({"dashboardPort"})
"""Keys of ports that former releases of the original had, and whose clusters may still be there
(https://github.com/kubernetes-sigs/kwok/blob/v0.6.0/pkg/apis/config/v1alpha1/kwokctl_configuration_types.go)."""


class Saved(msgspec.Struct, frozen=True, kw_only=True):
    """The full resolved state of a cluster."""

    name: ClusterName
    options: ClusterOptions
    names: tuple[ComponentName, ...]
    artifacts: Mapping[str, Artifact]
    stages: tuple[Mapping[str, object], ...]
    patches: Patches = msgspec.field(default_factory=dict)
    """The user's changes to components."""
    kept: tuple[Mapping[str, object], ...] = ()
    """The user's other documents for the controller."""
    templates: tuple[Mapping[str, object], ...] = ()
    """The user's documents for `scale`."""
    documents: tuple[Mapping[str, object], ...] = ()
    """The user's configuration of the program with which the runtime makes the cluster."""
    version: str = __version__

    def plan(self, runtime: Runtime, paths: ClusterPaths) -> Plan:
        """Describe the cluster's components as they are placed by its runtime."""
        plan = build_plan(self.name, self.names, self.setting(runtime, paths))
        maker = runtime.maker if isinstance(runtime, BringsKubernetes) else ""
        return replace(plan, maker=self.artifacts.get(maker), documents=self.documents)

    def setting(self, runtime: Runtime, paths: ClusterPaths) -> Setting:
        """Return what the component builders need."""
        return Setting(
            site=runtime.site(self.name),
            paths=paths,
            options=self.options,
            artifacts=self.artifacts,
            patches=self.patches,
            has_route=has_default_route(),
            writes_to_etcd=self.data_path().path == "etcd",
            controller_options=controller_options(self.kept),
        )

    def data_path(self) -> Choice:
        """Return how this cluster is written to, as far as its options say."""
        return choose_data_path(self.options, patches=self.patches)


def version_remark(saved: Saved) -> str:
    """Return a remark if another version of kwokctl has created a cluster, else an empty text."""
    if saved.version == __version__:
        return ""
    return (
        f"kwokctl {saved.version} has made the cluster '{saved.name}', and this is {__version__}: "
        "create it again to use new features"
    )


def cluster_names(workdir: WorkDir) -> list[ClusterName]:
    """List the clusters on disk, no matter which program made them."""
    return sorted(ClusterName(f.parent.name) for f in workdir.clusters.glob("*/kwok.yaml"))


def is_foreign(paths: ClusterPaths) -> bool:
    """Return whether a cluster was made by another program, the original for example."""
    return _maker(_documents(paths.saved)[0]) != MAKER


def load(paths: ClusterPaths, name: ClusterName) -> Saved:
    """Read a cluster's state.

    Raises NotFoundError if there is no such cluster, ConflictError if another program made it.
    """
    if not paths.saved.is_file():
        create = f"create it with: kwokctl create cluster --name {name}"
        there = hint_of_clusters(paths, name)
        joint = " If not, " if there.endswith("?") else "; " if there else ""
        raise NotFoundError(f"there is no cluster called '{name}'", hint=f"{there}{joint}{create}")
    head, *others = _documents(paths.saved)
    if _maker(head) != MAKER:
        raise ConflictError(
            f"the cluster '{name}' was made by the original kwokctl",
            hint="use that program for it, or choose another --name",
        )
    return _parse(name, head, others, paths.saved)


def hint_of_clusters(paths: ClusterPaths, name: ClusterName) -> str:
    """Name the clusters that exist for an error about one that does not; empty if there are none."""
    others = sorted(file.parent.name for file in paths.root.parent.glob("*/kwok.yaml"))
    clusters = f"the clusters are: {', '.join(others)}" if others else ""
    return did_you_mean(name, others) or clusters


def save(paths: ClusterPaths, saved: Saved, plan: Plan) -> None:
    """Write a cluster's state."""
    carry_out([state_file(paths, saved, plan)])


def state_file(paths: ClusterPaths, saved: Saved, plan: Plan) -> FileText:
    """Return the file of a cluster's state; it holds no secrets, but says where they are."""
    others = (*saved.stages, *saved.kept, *saved.templates, *saved.documents)
    text = yaml.dump_all([_head(saved, plan), *others])
    return FileText(paths.saved, text, 0o600)


def used_ports(workdir: WorkDir, but: ClusterName) -> frozenset[int]:
    """Return every port that the other clusters, running or not, have been given."""
    keys = _port_keys()
    return frozenset(
        port
        for name in cluster_names(workdir)
        if name != but
        for port in _ports(_documents(workdir.cluster(name).saved)[0], keys)
    )


def _port_keys() -> frozenset[str]:
    """Return the keys of the options that hold ports; the original's clusters may have more."""
    own = (spelling.key for spelling in spellings(usual_options()) if spelling.is_port)
    others = (option.key for option in NOT_SERVED if option.is_port)
    return frozenset((*own, *others)) | _FORMER_PORTS


def _ports(head: Mapping[str, Json], keys: frozenset[str]) -> list[int]:
    options = head.get("options") or {}
    of_options = [value for key, value in options.items() if key in keys]
    published = [
        port.get("hostPort")
        for component in head.get("components") or ()
        for port in component.get("ports") or ()
    ]
    return [value for value in (*of_options, *published) if isinstance(value, int) and value]


def _documents(path: Path) -> list[Mapping[str, object]]:
    try:
        documents = yaml.load_all(path.read_text(encoding="utf-8"))
    except ConfigError as e:
        raise ConfigError(f"'{path}' is not valid YAML: {e}", hint=e.hint) from e
    found = [document for document in documents if isinstance(document, Mapping)]
    if not found or found[0].get("kind") != "KwokctlConfiguration":
        raise ConfigError(
            f"{path} is not a saved cluster",
            hint="restore the file, or remove the cluster with: kwokctl delete cluster --force",
        )
    return found


def _maker(head: Mapping[str, object]) -> str:
    status = head.get("status")
    return str(status.get("maker", "")) if isinstance(status, Mapping) else ""


def _head(saved: Saved, plan: Plan) -> dict[str, object]:
    return {
        "apiVersion": API_VERSION,
        "kind": "KwokctlConfiguration",
        "metadata": {"name": saved.name},
        "options": options_to_document(saved.options),
        "components": [
            {
                "name": component.name,
                "version": component.artifact.version,
                "command": list(component.artifact.command),
                **({"image": component.artifact.image} if component.artifact.image else {}),
                "args": list(component.args),
                "ports": [
                    {"name": p.name, "port": p.port, "hostPort": p.host_port}
                    for p in component.ports
                ],
                **({GIVEN: extra.to_document()} if extra else {}),
            }
            for component in plan.components.values()
            for extra in [saved.options.described(component.name)]
        ],
        FIELD: [patch.to_document() for patch in saved.patches.values()],
        "status": {"version": saved.version, "maker": MAKER},
    }


def _options(body: Mapping[str, Json], path: Path) -> ClusterOptions:
    usual = usual_options()
    options = with_values(usual, options_from_document(body["options"], f"{path}: options", usual))
    described = [each for each in body["components"] if GIVEN in each]
    return replace(options, extras=tuple(read_extras(described, str(path))))


def _parse(
    name: ClusterName, head: Mapping[str, Json], others: Sequence[Mapping[str, Json]], path: Path
) -> Saved:
    try:
        components = head["components"]
        return Saved(
            name=name,
            options=_options(head, path),
            names=tuple(ComponentName(c["name"]) for c in components),
            artifacts={
                c["name"]: Artifact(
                    name=c["name"],
                    version=c["version"],
                    command=tuple(c["command"]),
                    image=c.get("image"),
                )
                for c in components
            },
            patches=joined(read_patches(head.get(FIELD), str(path))),
            stages=tuple(other for other in others if other.get("kind") == "Stage"),
            kept=tuple(other for other in others if is_kept(other)),
            templates=tuple(other for other in others if other.get("kind") == FOR_SCALE),
            documents=tuple(other for other in others if other.get("kind") == FOR_RUNTIME),
            version=str(head["status"]["version"]),
        )
    except (KeyError, TypeError) as e:
        raise ConfigError(
            f"{path} has no valid {e}",
            hint="restore the file, or remove the cluster with: kwokctl delete cluster --force",
        ) from e
