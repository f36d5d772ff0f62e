"""Runs the groups of `docs/conformance.yaml`, and compares what fails with what cannot pass there.

`python -m tests.support.conformance [GROUP...]` takes an hour of a machine with two processors for all groups.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from kwokctl.artifacts.versions import DEFAULT_KUBE_VERSION
from kwokctl.host.paths import cache_dir
from tests.support.conformance.expected import Expected, Group, compared, expected
from tests.support.conformance.program import NotBuiltError, built
from tests.support.conformance.report import Outcome, read_report

_NAME = "conformance"
_NODES = 20
_PROCESSES = 6
_PROGRAMS = Path(__file__).parent / "programs.yaml"
_KWOKCTL = (str(Path(sys.executable).parent / "kwokctl"), "--name", _NAME)


def main(words: Sequence[str]) -> int:
    """Return 0 if nothing failed but what cannot pass."""
    known = expected()
    parser = argparse.ArgumentParser(prog="conformance")
    parser.add_argument("groups", nargs="*", help="names of groups; all without any")
    chosen = parser.parse_args(words).groups or [each.name for each in known.groups]
    version = os.environ.get("KUBE_VERSION") or DEFAULT_KUBE_VERSION
    try:
        folder = built(version, cache_dir())
    except NotBuiltError as e:
        _say(f"conformance: {e}")
        return 1
    groups = [each for each in known.groups if each.name in chosen]
    with TemporaryDirectory(prefix="conformance-") as place:
        return _conclude(known, _outcomes(known, groups, folder, Path(place), version))


def _outcomes(
    known: Expected, groups: Sequence[Group], programs: Path, place: Path, version: str
) -> list[Outcome]:
    kubeconfig = place / "kubeconfig"
    create = (
        "create", "cluster", "--wait", "--nodes", str(_NODES), "--kube-version", version,
        "--stage", "pod-kubelet", "--stage", "volume-fast", "--config", str(_PROGRAMS),
        "--no-disable-qps-limits",  # a spec is about them
        "--kubeconfig", str(kubeconfig),
    )  # fmt: skip
    subprocess.run([*_KWOKCTL, *create], check=True)
    try:
        return [_run(known, group, programs, place, kubeconfig) for group in groups]
    finally:
        subprocess.run([*_KWOKCTL, "delete", "cluster"], check=False)


def _run(known: Expected, group: Group, programs: Path, place: Path, kubeconfig: Path) -> Outcome:
    _say(f"conformance: running {group.name}")
    report = place / f"{group.name}.json"
    skip = "|".join(filter(None, (known.skip, group.skip)))
    subprocess.run(
        [
            str(programs / "ginkgo"), f"--procs={1 if group.serial else _PROCESSES}",
            "--no-color", "--timeout=3h", f"--focus={group.focus}",
            f"--skip={skip}", f"--json-report={report.name}", f"--output-dir={place}",
            str(programs / "e2e.test"), "--", "--provider=skeleton", f"--kubeconfig={kubeconfig}",
            f"--num-nodes={_NODES}", "--disable-log-dump",
        ],
        check=False,
    )  # fmt: skip
    return read_report(report)


def _conclude(known: Expected, outcomes: Sequence[Outcome]) -> int:
    passed = frozenset[str]().union(*(each.passed for each in outcomes))
    failed = frozenset[str]().union(*(each.failed for each in outcomes))
    verdict = compared(passed, failed, known.failing)
    for spec in verdict.better:
        _say(f"passes, and is listed as one that cannot: {spec}")
    for spec in verdict.unexpected:
        _say(f"FAILED: {spec}")
    _say(
        f"conformance: {len(passed)} passed, {len(failed)} failed, of which "
        f"{len(failed) - len(verdict.unexpected)} cannot pass"
    )
    return int(bool(verdict.unexpected) or not passed)


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


sys.exit(main(sys.argv[1:]))
