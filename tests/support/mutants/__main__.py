"""Says for each mutant which of its directed tests finds it.

    python -m tests.support.mutants [NAME]

Ends with 1 if a mutant is found by none that is not called equivalent, or if one that is called so is found.
"""

import os
import sys
from collections.abc import Sequence
from importlib import import_module

import pytest

from tests.support.mutants.mutant import Mutant

LISTS = {
    "traced_lives": (
        "tests/unit/specialization/test_traced_values.py",
        "tests/unit/specialization/test_source.py",
        "tests/unit/specialization/test_soundness.py",
        "tests/unit/controller/lifecycle/test_life_plans.py",
    ),
    "fault_overlay": (
        "tests/unit/faults/overlays/test_overlay.py",
        "tests/unit/faults/overlays/test_overlaid_taints.py",
        "tests/unit/faults/overlays/test_overlaid_devices.py",
    ),
    "fault_writes": ("tests/unit/faults/overlays/test_node_writes.py",),
    "etcd_writes": (
        "tests/unit/dataplane/test_etcd_plane.py",
        "tests/unit/dataplane/test_status_change.py",
        "tests/unit/dataplane/test_store_whole.py",
        "tests/unit/dataplane/events/test_event_with_status.py",
    ),
    "event_writes": (
        "tests/unit/dataplane/events/test_event_writer.py",
        "tests/unit/dataplane/events/test_event_with_status.py",
    ),
    "rewinds": (
        "tests/unit/etcd/marks/test_mark_content.py",
        "tests/unit/etcd/marks/test_mark_difference.py",
        "tests/unit/etcd/marks/test_missing_keys.py",
        "tests/unit/etcd/marks/test_present.py",
    ),
    "incidents": (
        "tests/unit/measure/scoring/test_incidents.py",
        "tests/unit/measure/scoring/test_scorecard.py",
        "tests/unit/measure/scoring/test_placements.py",
        "tests/unit/measure/scoring/test_acting_users.py",
        "tests/unit/measure/scoring/test_score_report.py",
    ),
    "trainings": (
        "tests/unit/training/test_plan.py",
        "tests/unit/training/test_course.py",
        "tests/unit/training/test_check_times.py",
        "tests/unit/controller/training/test_rank_reader.py",
        "tests/unit/controller/training/test_trainings.py",
        "tests/unit/controller/training/test_training_run.py",
        "tests/unit/controller/training/test_preflight_run.py",
    ),
    "fault_selection": (
        "tests/unit/faults/targets/test_candidates.py",
        "tests/unit/faults/test_fault_checks.py",
        "tests/unit/faults/evictions/test_forecast.py",
        "tests/unit/faults/targets/test_node_expressions.py",
        "tests/unit/faults/targets/test_selection.py",
        "tests/unit/faults/targets/test_selected_gpus.py",
        "tests/unit/faults/targets/test_selected_units.py",
        "tests/unit/faults/targets/test_selected_pods.py",
    ),
    "symbolic_matching": ("tests/unit/controller/stages/test_symbolic_matching.py",),
    "stage_plans": (
        "tests/unit/controller/plans/test_stage_plans.py",
        "tests/unit/controller/plans/test_forms.py",
    ),
    "list_cutting": ("tests/unit/kube/collections/test_paging.py",),
    "flow_control": (
        "tests/unit/etcd/grpc/test_connection_sending.py",
        "tests/unit/etcd/grpc/test_connection_ends.py",
        "tests/unit/etcd/grpc/test_connection_faults.py",
    ),
    "plays_in_memory": (
        "tests/unit/controller/in_memory/test_play.py",
        "tests/unit/controller/in_memory/test_pattern.py",
    ),
    "stage_matching": (
        "tests/unit/controller/stages/test_matcher.py",
        "tests/unit/controller/stages/test_selectors.py",
    ),
    "received_frames": (
        "tests/unit/etcd/grpc/test_connection.py",
        "tests/unit/etcd/grpc/test_connection_ends.py",
        "tests/unit/etcd/grpc/test_connection_faults.py",
    ),
}
"""Modules with `MUTANTS`, and the files of the tests that are to find them."""


class _Trials:
    """Runs the tests once for each mutant, in a fork of the process that has collected them."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.wrong: list[Mutant] = []

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the tests as they are, then with each mutant."""
        if failed := _first_failure(session, None):
            print(f"without any mutant fails {failed}")
            raise pytest.UsageError
        # Not before pytest has begun, which has to be the first that imports the product.
        for mutant in import_module(f"tests.support.mutants.{self.name}").MUTANTS:
            mutant.code()  # it can be made
            found = _first_failure(session, mutant)
            print(f"{_verdict(mutant, found)}\n    {mutant}", flush=True)
            if bool(found) == bool(mutant.equivalent):
                self.wrong.append(mutant)
        return True


def _verdict(mutant: Mutant, found: str) -> str:
    if found:
        return f"found by {found}{' - CALLED EQUIVALENT' if mutant.equivalent else ''}"
    return f"equivalent: {mutant.equivalent}" if mutant.equivalent else "NOT FOUND"


def _first_failure(session: pytest.Session, mutant: Mutant | None) -> str:
    """Return the first test that fails with a mutant; an empty text if all pass."""
    source, sink = os.pipe()
    pid = os.fork()
    if pid == 0:
        name = ""
        if mutant is not None:
            mutant.apply()
        for item, following in zip(session.items, [*session.items[1:], None], strict=True):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if session.testsfailed:
                name = item.nodeid.rpartition("/")[2]
                break
        os.write(sink, name.encode())
        os._exit(0)
    os.close(sink)
    with os.fdopen(source) as answer:
        found = answer.read()
    os.waitpid(pid, 0)
    return found


def main(names: Sequence[str]) -> int:
    """Try the mutants of some lists, or of all."""
    wrong = 0
    for name in names or LISTS:
        trials = _Trials(name)
        options = ["-o", "addopts=", "-p", "no:terminal", "-p", "no:inline_snapshot"]
        if pytest.main([*options, *LISTS[name]], plugins=[trials]):
            return 1
        wrong += len(trials.wrong)
    print(f"{wrong} are not as they should be")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
