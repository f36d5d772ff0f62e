"""kwokctl itself in a script, for what a shell cannot do: secrets, the user's kubeconfig, the store."""

import shlex
import sys
from pathlib import Path

from kwokctl.artifacts.locations import Order
from kwokctl.artifacts.program_platform import here
from kwokctl.artifacts.resolve_programs import store_of
from kwokctl.clusters.delete import remove_context
from kwokctl.clusters.state.component_files import write_credentials
from kwokctl.clusters.state.home import Home, context_name
from kwokctl.clusters.state.locks import alone
from kwokctl.clusters.state.saved import cluster_names, load
from kwokctl.host.files import scratch_folder
from kwokctl.kube.kubeconfig import entries
from kwokctl.model import ClusterName
from kwokctl.script.steps import Call, ShellFunction


async def make_credentials(home: Home, name: ClusterName) -> None:
    """Make certificates, tokens and kubeconfigs for a cluster whose state is there."""
    with alone(home.workdir, name):
        saved = load(home.paths(name), name)
        write_credentials(home, home.runtime(saved.options.runtime), saved)


async def add_context(home: Home, name: ClusterName, kubeconfig: str) -> None:
    """Put the context of a cluster into the user's kubeconfig."""
    await entries.merge_context(Path(kubeconfig), home.paths(name).kubeconfig, context_name(name))


async def drop_context(home: Home, name: ClusterName, kubeconfig: str) -> None:
    """Take the context of a cluster out of the user's kubeconfig."""
    heirs = [other for other in cluster_names(home.workdir) if other != name]
    await remove_context(home, name, Path(kubeconfig), heirs=heirs, existed=True)


async def store_program(
    home: Home, _: ClusterName, program: str, key: str, file: str, url: str, member: str
) -> None:
    """Put a program, of a file that was downloaded and checked, into the store."""
    from kwokctl.artifacts.downloads.download import unpack  # loads tarfile and zipfile

    version = key.partition("@")[0]
    order = Order(name=program, version=version, key=key, batch="", url=url, member=member)
    store = store_of(home.cache, here())
    with scratch_folder(store.root / f".{program}.brought") as folder:
        unpack(order, Path(file), store=store, folder=folder, progress=home.progress)


# Not what is called kwokctl on the PATH: it may be another program, or another version.
_KWOKCTL = ShellFunction(
    "kwokctl",
    f"""\
kwokctl() {{
  {shlex.quote(sys.executable)} -P -m kwokctl "$@" </dev/null
}}""",
)


def kwokctl(name: ClusterName | None, *words: str) -> Call:
    """Return a call of kwokctl for a cluster."""
    return Call(_KWOKCTL, (*(("--name", name) if name else ()), *words))


def plumbing(name: ClusterName, *words: str) -> Call:
    """Return a call of one of the commands that only scripts use."""
    return kwokctl(name, "plumbing", *words)
