"""How long clusters take to create, stop, start and delete, and what that costs, beside another kwokctl: in turns, in one run.

    python -m benchmarks.against --other kwokctl-of-go --controller kwok-of-go [--rounds 7]

The other one is given the same programs of Kubernetes, and a controller of its own. CPU is that of all processes, also of those
that stay, as a control group counts it, for which this needs root.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import cache_from_source
from pathlib import Path

import kwokctl
from benchmarks.report import Row, report
from kwokctl.artifacts.program_platform import here
from kwokctl.artifacts.resolve_programs import store_of
from kwokctl.artifacts.versions import DEFAULT_KUBE_VERSION, etcd_version
from kwokctl.host.paths import cache_dir
from tests.support.control_groups import Group, group

_KUBERNETES = ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")
_ETCD = ("etcd", "etcdctl")
_LIFE = (
    ("create", "cluster", "--name=against", "--runtime=binary", "--wait=5m"),
    ("stop", "cluster", "--name=against"),
    ("start", "cluster", "--name=against", "--wait=5m"),
    ("delete", "cluster", "--name=against"),
)
_FIRST = Path("/sys/fs/cgroup/cpuacct")
"""The controller that counts in cgroup v1; in v2 that of processors does."""


@dataclass(frozen=True, slots=True)
class Spent:
    """What one command took, in seconds."""

    wall: float
    cpu: float


def main() -> None:
    """Print medians of both, and their ratios."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--other", required=True, help="the other kwokctl")
    parser.add_argument("--controller", required=True, help="the controller of the other one")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    programs = programs_of_kubernetes()
    theirs = {**programs, "KWOK_CONTROLLER_BINARY": options.controller}
    commands = {
        "ours": ([str(Path(sys.executable).with_name("kwokctl"))], programs),
        "the other": ([options.other], theirs),
    }
    found: dict[str, list[Sequence[Spent]]] = {name: [] for name in commands}
    for _ in range(options.rounds):
        for name, (command, environment) in commands.items():
            found[name].append(_life(command, environment))
    print(f"compiled modules of this checkout: {'present' if _has_bytecode() else 'missing'}")
    for number, words in enumerate(_LIFE):
        spent = {name: [each[number] for each in found[name]] for name in found}
        report(" ".join(words[:2]), list(_rows(spent)))


def _rows(found: Mapping[str, Sequence[Spent]]) -> Iterator[Row]:
    for what, of in (("wall", "wall"), ("CPU of all processes", "cpu")):
        medians = {
            name: statistics.median(getattr(each, of) for each in spent)
            for name, spent in found.items()
        }
        for name, seconds in medians.items():
            yield Row(f"{what}, {name}", seconds, "s")
        yield Row(f"{what}, ratio", medians["ours"] / medians["the other"], "")


def _life(command: Sequence[str], environment: Mapping[str, str]) -> Sequence[Spent]:
    controller = "cpuacct" if _FIRST.is_dir() else "cpu"
    with group(controller) as counted, tempfile.TemporaryDirectory(prefix="kwokctl-bench-") as work:
        own = {"KWOK_WORKDIR": f"{work}/work", "KUBECONFIG": f"{work}/kubeconfig"}
        found = []
        for words in _LIFE:
            _rest(counted)
            environ = {**os.environ, **environment, **own}
            found.append(_run(counted, environ, [*command, *words]))
    return found


def _run(counted: Group, environment: Mapping[str, str], words: Sequence[str]) -> Spent:
    before, began = used(counted), time.perf_counter()
    ended = subprocess.run(
        counted.entered(*words), env=environment, capture_output=True, text=True, check=False
    )
    spent = Spent(time.perf_counter() - began, used(counted) - before)
    if ended.returncode:
        raise SystemExit(f"'{' '.join(words)}' failed:\n{ended.stderr[-2000:]}")
    return spent


def _rest(counted: Group) -> None:
    """Wait until the work of a cluster's first seconds is done: each command comes at the same point of its life."""
    before, now = -1.0, used(counted)
    while now - before > 0.1:
        time.sleep(0.5)
        before, now = now, used(counted)


def used(counted: Group) -> float:
    """Return the seconds of CPU that all processes of a group have spent so far."""
    if counted.is_first:
        return int((counted.folder / "cpuacct.usage").read_text()) / 1e9
    lines = (counted.folder / "cpu.stat").read_text().splitlines()
    return int(dict(line.split() for line in lines)["usage_usec"]) / 1e6


def programs_of_kubernetes() -> Mapping[str, str]:
    """Return the variables that name programs of Kubernetes, as both commands read them."""
    store = store_of(cache_dir(), here())
    versions = {
        **dict.fromkeys(_KUBERNETES, DEFAULT_KUBE_VERSION),
        **dict.fromkeys(_ETCD, etcd_version(DEFAULT_KUBE_VERSION)),
    }
    found = {name: store.find(name, version) for name, version in versions.items()}
    return {
        f"KWOK_{name.upper().replace('-', '_')}_BINARY": str(entry.path)
        for name, entry in found.items()
        if entry
    }


def _has_bytecode() -> bool:
    """Return whether modules need not be compiled by each command."""
    return Path(cache_from_source(str(Path(kwokctl.__file__).with_name("errors.py")))).is_file()


if __name__ == "__main__":
    main()
