""""""

import os
import sys
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from kwokctl.cli.verbs.inspection.status import emit_overview
from kwokctl.clusters.overview.figures import ControllerReport
from kwokctl.replacing import replace
from tests.support.overviews import FULL, READY, REMEDY, SEEN, STOPPED
from tests.support.terminal import shown


def test_a_cluster_is_shown_on_one_screen(capfd: pytest.CaptureFixture[str]) -> None:
    emit_overview(SEEN)
    assert capfd.readouterr().out == snapshot("""\
big: Ready, Kubernetes v1.36.3, runtime binary

COMPONENT        STATUS    VERSION   CPU    MEMORY
etcd             Ready     3.6.16    0.52   80Mi
kube-apiserver   Stopped   -         -      -

nodes       9,998 of 10,000 Ready
pods        99,000 Running, 1,000 Pending
etcd        300Mi, 200Mi in use; 15% of its quota of 2Gi
writes      straight to etcd (fast; see --data-path)
heartbeat   Leases of 40 s
Stages      5: a, b, c, and 2 more
watch       0.01 s behind the writes

✗ 2 nodes are not Ready
  kwokctl stage explain node/x
""")


@pytest.mark.parametrize(("rows", "is_whole"), [(19, True), (18, False), (0, True)])
def test_on_a_small_screen_components_that_are_ready_are_only_counted(
    capfd: pytest.CaptureFixture[str], rows: int, is_whole: bool
) -> None:
    emit_overview(replace(SEEN, components=(*[READY] * 3, STOPPED)), rows)
    lines = capfd.readouterr().out.splitlines()

    assert ("others      3 Ready" in lines) is not is_whole
    assert any(line.startswith("etcd  ") and "80Mi" in line for line in lines) is is_whole
    assert any(line.startswith("kube-apiserver   Stopped") for line in lines)
    assert lines[-1] == "  kwokctl stage explain node/x"


def test_what_is_not_known_says_so(capfd: pytest.CaptureFixture[str]) -> None:
    emit_overview(replace(SEEN, nodes=None, pods=None, etcd=None, controller=None, problems=()))
    assert capfd.readouterr().out == snapshot("""\
big: Ready, Kubernetes v1.36.3, runtime binary

COMPONENT        STATUS    VERSION   CPU    MEMORY
etcd             Ready     3.6.16    0.52   80Mi
kube-apiserver   Stopped   -         -      -

nodes       unknown
pods        unknown
etcd        unknown
writes      straight to etcd (fast; see --data-path)
heartbeat   Leases of 40 s
Stages      unknown
watch       unknown
""")


def test_where_the_delay_of_the_watch_is_not_measured_the_reason_is_shown(
    capfd: pytest.CaptureFixture[str],
) -> None:
    emit_overview(replace(SEEN, controller=ControllerReport(stages=("a",), watch_delay=None)))

    assert "watch       its delay is measured only where" in capfd.readouterr().out


_WATCH = """
import asyncio
from kwokctl.cli.verbs.inspection.status import emit_overviews
from tests.support.overviews import FULL, SEEN

async def looks():
    for seen in (FULL, SEEN):
        yield seen

asyncio.run(emit_overviews(looks(), ""))
"""


def test_a_terminal_that_obeys_no_codes_gets_one_look_after_the_other() -> None:
    environ = {"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(__file__).parents[4])}

    all_of_it = shown(
        [sys.executable, "-c", _WATCH], environ | {"TERM": "dumb"}, rows=24, columns=80
    )

    assert "\x1b" not in all_of_it
    assert all_of_it.count("COMPONENT") == 2


@pytest.mark.parametrize(
    ("rows", "columns", "problems"), [(24, 80, 2), (24, 120, 2), (50, 80, 9), (41, 120, 9)]
)
def test_each_look_of_a_watch_fits_the_terminal(rows: int, columns: int, problems: int) -> None:
    environ = {"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(__file__).parents[4])}
    all_of_it = shown(
        [sys.executable, "-X", "utf8", "-c", _WATCH], environ, rows=rows, columns=columns
    )

    before, *looks = all_of_it.replace("\r\n", "\n").split("\x1b[H\x1b[J")
    assert before == ""
    for look in looks:
        lines = look.split("\n")  # the last one is the cursor's
        assert len(lines) <= rows
        assert max(map(len, lines)) <= columns
    full, small = looks
    assert full.count("✗") == problems
    assert (f"{9 - problems} more problems: kwokctl doctor" in full) is (problems < 9)
    # A remedy is whole, though over two rows.
    assert " ".join(full.split()).count(REMEDY) == problems
    assert small.endswith("✗ 2 nodes are not Ready\n  kwokctl stage explain node/x\n")


def test_on_a_pipe_a_remedy_is_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    emit_overview(FULL)

    assert capfd.readouterr().out.count(f"\n  {REMEDY}\n") == 9
