"""Defines a component: its options, program, certificates, and how it is described."""

from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from kwokctl.artifacts.versions import kube_version
from kwokctl.components.metrics_page import MetricsPage, Pages
from kwokctl.components.setting import Setting
from kwokctl.config.declaring import ComponentOptions
from kwokctl.config.options import ClusterOptions
from kwokctl.model import Artifact, Component, ComponentName, Identity


def _kubernetes(options: ClusterOptions) -> str:
    return kube_version(options.kube_version)


def _no_identities(_: ClusterOptions) -> tuple[Identity, ...]:
    return ()


def _by_name_only(_: ClusterOptions) -> bool:
    return False


def _no_metrics(_: Setting, __: ComponentName | None) -> None:
    return None


def _no_files(_: Setting, __: Pages) -> Mapping[Path, str]:
    return {}


class Definition(msgspec.Struct, frozen=True, kw_only=True):
    """One component: its options, its program, its certificates, and how it is started."""

    options: type[ComponentOptions]
    """Declares its options: its port, program and image, if they can be chosen, and others."""
    build: Callable[[Setting], Component]
    """Describes it in one cluster: arguments, ports, files, and when it is ready."""
    identities: Callable[[ClusterOptions], tuple[Identity, ...]] = _no_identities
    """Its certificates."""
    is_client: bool = False
    """Whether it dials the API server, with a kubeconfig and a token of its own."""
    version: Callable[[ClusterOptions], str] = _kubernetes
    embedded: Artifact | None = None
    """The program that kwokctl brings for it, which is started unless the user gives one."""
    metrics: Callable[[Setting, ComponentName | None], MetricsPage | None] = _no_metrics
    """Returns the address of its metrics, for another component or, None, for this host."""
    collect: Callable[[Setting, Pages], Mapping[Path, str]] = _no_files
    """Returns the files that it reads about the metrics of the cluster's components."""
    is_added_by_port: bool = False
    """Whether a cluster has it, too, where a port was chosen for it."""
    is_added: Callable[[ClusterOptions], bool] = _by_name_only
    """Whether options of its own ask for it, where a cluster does not name it."""
    is_required: bool = False
    """Whether every cluster must have it."""

    @property
    def name(self) -> ComponentName:
        """Its name."""
        return self.options.component
