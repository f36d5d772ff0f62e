""""""

from typing import Any

import pytest
from inline_snapshot import snapshot

from kwokctl.cli.verbs.inspection.doctor import as_document, emit_diagnosis
from kwokctl.clusters.doctor.check import DoctorFinding, Repair, Repaired, Report, not_made
from kwokctl.clusters.doctor.examine import Diagnosis, Examined
from kwokctl.model import ClusterName


async def nothing() -> None:
    """Repair nothing."""


def examined(check: str, report: Report) -> Examined:
    return Examined(check=check, looks_at="something", report=report)


REPAIR = Repair(what="Starting it", do=nothing)
DEAD = DoctorFinding(what="'etcd' does not run", remedy="start cluster", repair=REPAIR)
SLOW = DoctorFinding(what="the disk is slow", remedy="another one")
SEEN = Diagnosis(
    machine=[
        examined("runtimes", Report(state="binary", notes=("not docker: no engine",))),
        examined("disk", Report(state="40 ms", findings=(SLOW,))),
        examined("sites", not_made("not checked")),
    ],
    cluster=ClusterName("big"),
    of_cluster=[examined("components", Report(state="5 of 6", findings=(DEAD,)))],
)


def test_each_check_is_a_line_with_what_is_wrong_below(capfd: pytest.CaptureFixture[str]) -> None:
    emit_diagnosis(SEEN)
    assert capfd.readouterr().out == snapshot("""\
this machine
✓ runtimes  binary
    not docker: no engine
✗ disk      40 ms
    the disk is slow
      → another one
- sites     not checked

cluster 'big'
✗ components  5 of 6
    'etcd' does not run (--fix)
      → start cluster
""")


def test_the_document_has_what_the_text_has() -> None:
    document: Any = as_document(SEEN, [Repaired(what="Starting it")])

    assert document["findings"] == 2
    assert [each["made"] for each in document["machine"]] == [True, True, False]
    assert document["cluster"] == "big"
    assert document["ofCluster"][0]["findings"] == [
        {"what": "'etcd' does not run", "remedy": "start cluster", "repair": "Starting it"}
    ]
    assert document["repaired"] == [{"what": "Starting it", "failure": ""}]
