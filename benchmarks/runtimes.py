"""What a cluster costs in each runtime: creation, nodes, stop and start, beside plain kind.

`python -m benchmarks.runtimes [--rounds N] [--nodes N] [--only NAME …] [--kind-config FILE]`. The runtimes take turns, so that what else
the machine does hits all of them. Those that cannot run here are left out, in one line each. Images
are warm: a first round is not counted. Plain kind is taken from the PATH, with the node image that
KWOK_KIND_NODE_IMAGE names, if it does; a configuration of kind is given to it and to us.
"""

import argparse
import asyncio
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.cluster import KWOKCTL, FailedError
from benchmarks.report import Row, report
from kwokctl import registry
from kwokctl.components.catalog import usual_options
from kwokctl.errors import KwokctlError
from kwokctl.host.machine import Host
from kwokctl.host.paths import WorkDir

_PLAIN = "plain kind"
_BASE = usual_options().runtimes[0]
_MORE_TO_CREATE = 2.5
"""Seconds by which a cluster in containers may come later than one of processes."""
_MORE_ON_KIND = 2.0
"""The same of a cluster on kind and what kind makes by itself."""
_STOP_OR_START = 5.0
"""Seconds within which a cluster in containers must stop, and be ready again."""
_FROM_PROGRAMS = "--artifact-source=build"
"""The same programs in all runtimes, and no registry."""

Times = dict[str, float]
"""Seconds, by what was done."""


def main() -> None:
    """Measure in turns, and print medians and ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="runtimes, and 'plain kind'")
    parser.add_argument("--kind-config", type=Path, help="a Cluster document of kind's")
    asked = parser.parse_args()
    stories = _stories(asked.nodes, asked.kind_config)
    chosen = {name: stories[name] for name in stories if name in (asked.only or stories)}
    stories = _that_work(chosen)
    rounds = [_all(stories) for _ in range(asked.rounds)]
    for what in ("create", "scale", "stop", "start"):
        report(_title(what, asked.nodes), list(_rows(what, rounds)))


def _that_work(stories: dict[str, Callable[[], Times]]) -> dict[str, Callable[[], Times]]:
    """Try each once, which warms what it starts from; report in one line which does not work."""
    working = {}
    for name, story in stories.items():
        try:
            story()
        except FailedError as e:
            lines = str(e).splitlines()
            why = next((one for one in lines if one.lower().startswith("error")), lines[0])
            print(f"without {name}: {why}", file=sys.stderr)
        else:
            working[name] = story
    return working


def _all(stories: dict[str, Callable[[], Times]]) -> dict[str, Times]:
    return {name: story() for name, story in stories.items()}


def _stories(nodes: int, config: Path | None) -> dict[str, Callable[[], Times]]:
    stories = {name: _story(name, nodes, config) for name in registry.names() if _can_run(name)}
    if kind := shutil.which("kind"):
        stories[_PLAIN] = lambda: _plain_kind(kind, config)
    return stories


def _can_run(name: str) -> bool:
    try:
        asyncio.run(registry.load(name, Host(WorkDir(Path(tempfile.gettempdir())))).check())
    except KwokctlError as e:
        print(f"without {name}: {e}", file=sys.stderr)
        return False
    return True


def _story(runtime: str, nodes: int, config: Path | None) -> Callable[[], Times]:
    own = [f"--config={config}"] if config and runtime.startswith("kind") else []

    def times() -> Times:
        with tempfile.TemporaryDirectory(prefix="kwokctl-bench-") as folder:
            env = {**os.environ, "KWOK_WORKDIR": folder}

            def timed(*words: str) -> float:
                return _timed([*KWOKCTL, "--name=bench", *words], env)

            try:
                create = ["create", "cluster", "--runtime", runtime, "--kubeconfig="]
                return {
                    "create": timed(*own, *create, "--wait=5m", _FROM_PROGRAMS),
                    "scale": timed("scale", "node", f"--replicas={nodes}", "--wait=5m"),
                    "stop": timed("stop", "cluster"),
                    "start": timed("start", "cluster", "--wait=5m"),
                }
            finally:
                timed("delete", "cluster", "--kubeconfig=")

    return times


def _plain_kind(kind: str, config: Path | None) -> Times:
    image = os.environ.get("KWOK_KIND_NODE_IMAGE")
    with tempfile.TemporaryDirectory(prefix="kwokctl-bench-") as folder:
        words = ["--name=bench-plain", f"--kubeconfig={folder}/kubeconfig"]
        chosen = [f"--image={image}"] if image else []
        chosen += [f"--config={config}"] if config else []
        try:
            return {"create": _timed([kind, "create", "cluster", *words, *chosen])}
        finally:
            _timed([kind, "delete", "cluster", *words])


def _timed(words: Sequence[str], env: dict[str, str] | None = None) -> float:
    began = time.perf_counter()
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise FailedError(f"{' '.join(words)} exited with {done.returncode}:\n{done.stderr}")
    return time.perf_counter() - began


def _rows(what: str, rounds: Sequence[dict[str, Times]]) -> list[Row]:
    medians = {
        name: statistics.median(times[name][what] for times in rounds)
        for name in rounds[0]
        if what in rounds[0][name]
    }
    rows = [
        Row(name, seconds, "s", goal=_goal(what, name, medians))
        for name, seconds in medians.items()
    ]
    base = medians.get(_BASE)
    ratios = [
        Row(f"{name} / {_BASE}", seconds / base, "times")
        for name, seconds in medians.items()
        if base and name != _BASE
    ]
    return rows + ratios


def _goal(what: str, name: str, medians: Times) -> float | None:
    """Return the goal of a runtime of containers; plain kind has none."""
    if what in {"stop", "start"} and name == "docker":
        return _STOP_OR_START
    if what != "create" or name in {_BASE, _PLAIN} or _BASE not in medians:
        return None
    if name.startswith("kind"):
        return medians[_PLAIN] + _MORE_ON_KIND if _PLAIN in medians else None
    return medians[_BASE] + _MORE_TO_CREATE


def _title(what: str, nodes: int) -> str:
    titles = {
        "create": "create cluster --wait",
        "scale": f"scale node --replicas {nodes} --wait",
        "stop": "stop cluster",
        "start": "start cluster --wait",
    }
    return titles[what]


if __name__ == "__main__":
    try:
        main()
    except FailedError as e:
        sys.exit(str(e))
