"""Runs the benchmarks one after the other, or those that are named: `python -m benchmarks [NAME…]`.

Those that take longest or need more, such as `soak` or the comparisons with libraries, are run only
when they are named.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_NAMES = (
    "expressions",
    "usage",
    "http_client",
    "etcd_client",
    "create",
    "scale",
    "controller",
    "snapshot",
    "rewind",
    "forks",
    "example",
    "documents",
    "fleet",
    "playing",
    "shapes",
    "stages",
    "lifecycle",
    "waiting",
    "staged",
    "rounds",
    "streams",
    "start",
)
_ONLY_WHEN_NAMED = (
    "arrivals",
    "autoscaling",
    "capacity",
    "dra",
    "endurance",
    "figures",
    "measuring",
    "view",
    "one_replica",
    "parting",
    "replicas",
    "scrapes",
    "soak",
    "runtimes",
    "etcd_libraries",
    "http_libraries",
    "sharing",
    "whole",
)


def main() -> int:
    """Run what was asked for; 2 if there is no such benchmark, 1 if one fails."""
    chosen = sys.argv[1:] or list(_NAMES)
    known = (*_NAMES, *_ONLY_WHEN_NAMED)
    unknown = sorted(set(chosen) - set(known))
    if unknown:
        print(f"no benchmark called {', '.join(unknown)}; there are: {', '.join(known)}")
        return 2
    print(f"{os.cpu_count()} processors, Python {sys.version.split()[0]}, {os.uname().release}")
    return max(_run(name) for name in chosen)


def _run(name: str) -> int:
    if name == "controller":
        with _cluster_without_controller() as kubeconfig:
            return _module(name, str(kubeconfig))
    return _module(name)


def _module(name: str, *words: str) -> int:
    sys.stdout.flush()
    return subprocess.run([sys.executable, "-m", f"benchmarks.{name}", *words]).returncode  # noqa: PLW1510 - returned


@contextmanager
def _cluster_without_controller() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="kwokctl-bench-") as folder:
        env = {**os.environ, "KWOK_WORKDIR": folder}
        kwokctl = [sys.executable, "-m", "kwokctl", "--name=bench"]
        create = [*kwokctl, "create", "cluster", "--wait=2m", "--kubeconfig="]
        subprocess.run([*create, "--disable=kwok-controller"], check=True, env=env)
        try:
            yield Path(folder) / "clusters" / "bench" / "kubeconfig.yaml"
        finally:
            subprocess.run([*kwokctl, "delete", "cluster", "--kubeconfig="], check=True, env=env)


if __name__ == "__main__":
    sys.exit(main())
