"""The dry runs of `kubectl`, `etcdctl` and `etcdutl`, as steps of a script."""

import shutil
from collections.abc import Sequence

from kwokctl.clusters.dry_run.lifecycle_steps import Steps
from kwokctl.clusters.dry_run.program_steps import Foreseen, foreseen_programs
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.saved import load
from kwokctl.clusters.tools import etcdctl_environment
from kwokctl.model import ClusterName
from kwokctl.script.steps import Command


async def kubectl_steps(home: Home, name: ClusterName, words: Sequence[str]) -> Steps:
    """Return the call of kubectl for a cluster."""
    options = load(home.paths(name), name).options
    on_path = None if options.tools.kubectl else shutil.which("kubectl")
    found = Foreseen(artifacts={}) if on_path else foreseen_programs(home, options, ["kubectl"])
    program = on_path or found.artifacts["kubectl"].command[0]
    own = f"--kubeconfig={home.paths(name).kubeconfig}"
    return (*found.steps, Command((program, own, *words)))


async def etcdctl_steps(home: Home, name: ClusterName, words: Sequence[str]) -> Steps:
    """Return the call of etcdctl for a cluster's etcd."""
    options = load(home.paths(name), name).options
    found = foreseen_programs(home, options, ["etcdctl"])
    program = found.artifacts["etcdctl"].command[0]
    return (*found.steps, Command((program, *words), env=etcdctl_environment(home, name)))


async def etcdutl_steps(home: Home, name: ClusterName, words: Sequence[str]) -> Steps:
    """Return the call of etcdutl of a cluster's version of etcd."""
    options = load(home.paths(name), name).options
    found = foreseen_programs(home, options, ["etcdutl"])
    return (*found.steps, Command((found.artifacts["etcdutl"].command[0], *words)))
