"""The lanes of `make test` and `make test-engines`, which run side by side.

Most tests wait for programs that start and stop, so a lane that waits leaves its processor to
another. What two tests cannot use at once is used in one lane only, one test after the other:
the rules that a dockerd makes in the packet filter, which a second one would overwrite, and Podman.
The Dockers of kind's lanes make none: kind's nodes need only published ports, for which they have a
proxy.

Lanes that need no components begin at once. Beside them a clone gets the components by the first command of the
README, as a new user does, and the lanes that need them follow.

Each lane is a pytest of its own, and what `make check` does is one more.
"""

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

ENGINES = ("none", "docker", "kind", "podman")
"""What a test may need to run containers: the choices of the option `--engine`."""

Lanes = Mapping[str, Sequence[str]]
"""The words for pytest that select the tests of each lane; each test is in one lane of one command."""

_ROOT = Path(__file__).parents[2]
_WITH_PROGRAMS = ("tests/contract", "tests/e2e")
_DATA_PATH = "tests/e2e/test_data_path_*.py"
_ROUNDS = (
    "tests/e2e/test_usage.py",
    "tests/e2e/test_fleet_board.py",
    "tests/e2e/test_heartbeats.py",
    "tests/e2e/test_kubelets_down.py",
    "tests/e2e/test_measured_arrivals.py",
    "tests/e2e/test_measured_repeats.py",
    "tests/e2e/test_guarded_scheduler.py",
)
"""Tests that mostly wait for what happens every few seconds: they take longest, and begin first."""
_LIVES = ("tests/e2e/test_create.py", "tests/e2e/test_documents.py", "tests/e2e/test_story.py")
"""Whole lives of clusters: last, so that no lane goes on alone with one processor at the end."""
_APART = (*_ROUNDS, *_LIVES)
_ON_KIND = ("tests/e2e/test_every_runtime.py", "tests/e2e/test_usage.py")
"""Half of what runs on kind: a second engine costs less than a lane that goes on alone."""
_FROM_A_CLONE = "tests/first_day/test_from_a_clone.py"
_WITH_HELM = "tests/packaging/test_chart.py"
"""What needs a program that is built with the components."""
_STORIES = (
    "tests/e2e/test_rewind.py",
    "tests/e2e/test_every_runtime.py",
    "tests/e2e/test_dry_run.py",
    "tests/e2e/test_recovery.py",
    "tests/e2e/test_stage_sets.py",
    "tests/e2e/test_python_programs.py",
    "tests/e2e/test_faults_from_python.py",
)
_FAULTS = (
    "tests/e2e/test_flood.py",
    "tests/e2e/test_failed_starts.py",
    "tests/e2e/test_resilience_page.py",
    "tests/e2e/test_missing_rights.py",
    "tests/e2e/test_refused_statuses.py",
    "tests/e2e/test_work_folder.py",
    "tests/e2e/test_without_network.py",
)
"""What strangers, other programs and machines do to a cluster; with the stories two thirds of what runs as processes."""
_STORMS = (
    "tests/e2e/test_demonstrations.py",
    "tests/e2e/test_parted_nodes.py",
    "tests/e2e/test_repairs.py",
    "tests/e2e/test_repair_requests.py",
    "tests/e2e/test_fault_score.py",
    "tests/e2e/test_api_faults.py",
    "tests/e2e/test_fault_objects.py",
    "tests/e2e/test_large_faults.py",
    "tests/e2e/test_shared_faults.py",
    "tests/e2e/test_shared_repairs.py",
    "tests/e2e/test_shared_storms.py",
    "tests/e2e/test_sharing_nodes.py",
    "tests/e2e/test_pytest_workers.py",
    "tests/e2e/test_devices.py",
    "tests/e2e/test_fault_score_of_devices.py",
    "tests/e2e/test_faults.py",
    "tests/e2e/test_faulty_pods.py",
    "tests/e2e/test_run_page.py",
    "tests/e2e/test_trainings.py",
)
"""Fleets that break over minutes, and those who look after them; several who share nodes, or a cluster; pods as on kubelets.

They mostly wait.
"""

_FLEETS = (
    "tests/e2e/test_as_others_expect.py",
    "tests/e2e/test_dialects_of_clusters.py",
    "tests/e2e/test_dra.py",
    "tests/e2e/test_fault_life.py",
    "tests/e2e/test_fault_reactions.py",
    "tests/e2e/test_fault_score_of_storms.py",
    "tests/e2e/test_fault_sinks.py",
    "tests/e2e/test_fault_surfaces.py",
    "tests/e2e/test_fault_surfaces_of_pods.py",
    "tests/e2e/test_faulty_kubelet.py",
    "tests/e2e/test_following_faults.py",
    "tests/e2e/test_gpu_metrics.py",
    "tests/e2e/test_gpu_tutorial.py",
    "tests/e2e/test_lasting_faults.py",
    "tests/e2e/test_mig_slices.py",
    "tests/e2e/test_nvidia_smi.py",
    "tests/e2e/test_shapes.py",
    "tests/e2e/test_slice_faults.py",
    "tests/e2e/test_storms.py",
    # It stops the cluster in the end, which the next module would have to make anew.
    "tests/e2e/test_fault_commands.py",
)
"""Machines, their devices and faults: they share clusters in which faults are known."""


def _without(files: Iterable[str]) -> Sequence[str]:
    return [f"--ignore={file}" for file in files]


WITHOUT_COMPONENTS: Lanes = {
    # In one process, unlike `make unit`: each worker of xdist collects all tests, and reports each to another process.
    # Without its plugin, which has a fixture for each test, a snapshot is the value that it has.
    "unit": ("tests/unit", "tests/cli", "-pno:inline_snapshot"),
    "packaging": ("tests/packaging", *_without((_WITH_HELM,))),
}
FIRST: Lanes = {"clone": (_FROM_A_CLONE,)}
"""On a new machine it gets the components, as the first command of a new user does: all others need them."""
WITH_COMPONENTS: Lanes = {
    "rounds": (*_ROUNDS, "--engine=none"),
    "first day": ("tests/first_day", *_without((_FROM_A_CLONE,))),
    "processes": (
        *_WITH_PROGRAMS,
        "--engine=none",
        f"--ignore-glob={_ROOT}/{_DATA_PATH}",
        *_without((*_APART, *_FLEETS, *_STORIES, *_FAULTS, *_STORMS)),
    ),
    "fleets": (*_FLEETS, "--engine=none"),
    "storms": (*_STORMS, "--engine=none"),
    "faults": (*_FAULTS, "--engine=none"),
    "stories": (*_STORIES, _WITH_HELM, "--engine=none"),
    "data path": (*sorted(str(path.relative_to(_ROOT)) for path in _ROOT.glob(_DATA_PATH)),),
    "lives": (*_LIVES, "--engine=none"),
}
IN_ENGINES: Lanes = {
    "docker": (*_WITH_PROGRAMS, "--engine=docker"),
    "kind": (*_WITH_PROGRAMS, "--engine=kind", *_without(_ON_KIND)),
    "kind life": (*_ON_KIND, "--engine=kind"),
    "podman": (*_WITH_PROGRAMS, "--engine=podman"),
}
"""The lanes of `make test-engines` that need an engine; beside them it runs `BROWSER`. All others are those of `make test`."""
BROWSER: Lanes = {"browser": ("tests/browser",)}
"""Pages in a real browser: no engine and no components."""
SHELLS: Lanes = {
    "shells": ("tests/cli/test_completion.py", "tests/cli/test_env.py", "-k=zsh or fish")
}
"""What the lane of unit tests has skipped where these shells are missing: it runs where they are installed for it."""

_BEHIND = ("nice", "-n", "5")
"""Before what computes and never waits: it takes what processor time the others leave, unlike the unit tests, which take longer."""
_MAKE = ("make", "--no-print-directory")
CHECK: Lanes = {"check": (*_BEHIND, *_MAKE, "check")}
"""What reads the code rather than runs it."""
COMPONENTS: Lanes = {"components": (*_MAKE, "components")}
"""What is missing besides once a clone has got its components."""


def engine_of(marks: Iterable[str]) -> str:
    """Return the engine that a test with these marks needs."""
    found = set(marks)
    return next((engine for engine in ("podman", "kind", "docker") if engine in found), "none")


def commands(lanes: Lanes, words: Sequence[str]) -> Lanes:
    """Return how the pytest of each lane is called, with more words of the caller."""
    pytest = [sys.executable, "-m", "pytest", "--no-header"]
    # Lanes would overwrite each other's record of what has failed.
    return {
        name: [*pytest, "-o", f"cache_dir=.pytest_cache/{name.replace(' ', '-')}", *own, *words]
        for name, own in lanes.items()
    }  # fmt: skip
