"""The page of a view: its items, and what changes of them."""

import msgspec
import pytest

from kwokctl.clusters.faults.fault_states import FaultReport
from kwokctl.clusters.time_travel.stored_marks import Mark
from kwokctl.measure.pages.page_data import FleetItem, PageData, TableCell, TableItem, TextItem
from kwokctl.measure.record.plane_lines import ProcessSample
from kwokctl.measure.record.record_lines import ApiProbe, RecordText
from kwokctl.measure.record.run_clock import RunClock
from kwokctl.model import ClusterName
from kwokctl.view.content.fleet_items import FleetMap
from kwokctl.view.content.words import amount_of, lasting
from kwokctl.view.live_page import LivePage
from kwokctl.view.serving.board import event_of
from kwokctl.view.state.cluster_state import ClusterState
from tests.support.seen_cluster import SeenCluster

EVIL = "</script><script>alert(1)</script>\"'\u202egnp"


class Shown:
    """A page about a cluster that is made up."""

    def __init__(self) -> None:
        self.state = ClusterState(RunClock(lambda: 1_700_000_000.0))
        self.state.is_watched = True
        self.cluster = SeenCluster(self.state.fleet, self.state.pods)
        self.cluster.begin()
        self.page = LivePage(ClusterName("demo"), (), self.state, 600.0)

    @property
    def data(self) -> PageData:
        return self.page.page()

    def item(self, name: str) -> TableItem:
        found = next(i for s in self.data.sections for i in s.items if i.id == name)
        assert isinstance(found, TableItem)
        return found

    def rows(self, name: str) -> list[list[str]]:
        rows = self.item(name).rows
        return [[c.text if isinstance(c, TableCell) else c for c in row] for row in rows]


def report(name: str, phase: str, message: str = "") -> FaultReport:
    return FaultReport(
        name=name, uid=f"uid-{name}", class_name="xid-79", phase=phase, units=3, landed=2, failed=0,
        repaired=0, foreign=0, left="", created="2023-11-14T22:13:30Z", seed=1, dialects=(), parameters={},
        reproducible=True, failed_units=(), message=message,
    )  # fmt: skip


def mark(name: str, made: float) -> Mark:
    return Mark(
        name=name, made=made, prefix="/registry", revision=1, baseline=1, witness=1, objects=1234,
        size=2048, file="x",
    )  # fmt: skip


def test_ids_are_unique_and_of_letters_digits_and_hyphens() -> None:
    shown = Shown()
    shown.state.marks = [mark("a.b", 1.0), mark("c", 2.0)]
    ids = [item.id for section in shown.data.sections for item in section.items]
    assert len({*ids}) == len(ids)
    assert all(each.replace("-", "").isalnum() and each == each.lower() for each in ids)


def test_a_cluster_that_is_well_is_called_so() -> None:
    shown = Shown()
    shown.cluster.node("n")
    assert shown.data.verdict.level == "good"


def test_the_worst_is_the_verdict_and_the_rest_are_its_notes() -> None:
    shown = Shown()
    shown.cluster.node("n", ready=False)
    shown.state.faults.take([report("broken", "Landed")], 1.0)
    shown.state.plane.take(ApiProbe(shown.state.now() - 10**11, 5, 0))
    verdict = shown.data.verdict
    assert verdict.level == "bad"
    assert verdict.text.startswith("The API server has not answered for 1m ")
    assert [*verdict.notes] == ["1 node is not Ready, of 1.", "1 fault is open."]


def test_reasons_are_listed_by_the_number_of_pods_with_the_one_that_waits_longest() -> None:
    shown = Shown()
    for number in range(30):
        shown.cluster.pod(f"rare-{number}", message=f"reason {number}")
    for name in ("first", "second"):
        shown.cluster.pod(name, message="no room")
    rows = shown.rows("waiting")
    assert rows[0][:2] == ["no room", "2"]
    assert rows[0][3] == "default/first"
    assert len(rows) == 20
    assert "11 more reasons" in shown.item("waiting").note


def test_the_map_has_racks_in_order_and_one_state_for_each_node() -> None:
    shown = Shown()
    for name, rack in (("n-10", "r-2"), ("n-9", "r-2"), ("n-1", "r-10"), ("bare", "")):
        shown.cluster.node(name, place=f"rack={rack}" if rack else "leaf=x")
    shown.cluster.node("n-1", ready=False, place="rack=r-10")
    shown.cluster.pod("a", node="n-9", cpu="1")
    shown.cluster.pod("b", node="n-10", cpu="4")
    found = next(i for s in shown.data.sections for i in s.items if isinstance(i, FleetItem))
    assert [(g.name, [*g.nodes]) for g in found.groups] == [
        ("nodes", ["bare"]), ("r-2", ["n-9", "n-10"]), ("r-10", ["n-1"])
    ]  # fmt: skip
    assert [*found.frames[0].changes] == [(0, "."), (1, "o"), (2, "#"), (3, "!")]


def test_only_cells_that_have_another_state_are_sent() -> None:
    shown = Shown()
    for number in range(100):
        shown.cluster.node(f"n-{number}")
    cells = FleetMap(shown.state.fleet)
    assert cells.lay_out(0.0)
    assert cells.changes(1.0) is None
    shown.cluster.pod("a", node="n-7")
    shown.cluster.pod("b", node="n-8")
    shown.cluster.gone("b")
    patch = cells.changes(2.0)
    assert patch is not None
    assert (patch.start, patch.changes) == (2.0, [(7, "o")])
    assert not cells.lay_out(3.0)
    shown.cluster.gone("n-7")
    assert cells.changes(4.0) is None  # it goes with the next map
    assert cells.lay_out(5.0)


def test_faults_are_bands_from_their_creation_until_they_are_cleared() -> None:
    shown = Shown()
    shown.state.faults.take([report("broken", "Landed")], 12.0)
    (band,) = shown.data.bands
    assert (band.name, band.start, band.end) == ("broken (xid-79)", 10.0, None)
    shown.state.faults.take([report("broken", "Cleared")], 99.0)
    (band,) = shown.data.bands
    assert band.end == 99.0
    assert shown.rows("faults") == []


def test_faults_of_the_past_are_forgotten_at_some_time() -> None:
    shown = Shown()
    for number in range(500):
        for phase in ("Landed", "Deleted"):
            shown.state.faults.take([report(f"f-{number}", phase)], float(number))
    assert len(shown.data.bands) <= 100


def test_a_mark_has_the_commands_that_lead_back_to_it() -> None:
    shown = Shown()
    shown.state.marks = [mark("before", 1_699_999_000.0), mark("now", 1_700_000_010.0)]
    texts = {
        item.id: [*item.lines]
        for section in shown.data.sections
        for item in section.items
        if isinstance(item, TextItem)
    }
    assert texts["rewind-1"] == ["kwokctl --name demo snapshot rewind now"]
    fork = "kwokctl --name demo-fork create cluster --from demo"
    assert texts["fork-0"] == [f"kwokctl --name demo snapshot rewind before && {fork}"]
    assert [row[0] for row in shown.rows("marks")] == ["now", "before"]
    assert [(band.name, band.start) for band in shown.data.bands] == [("mark now", 10.0)]


def test_components_that_end_and_start_again_are_told() -> None:
    shown = Shown()
    plane = shown.state.plane
    plane.take(RecordText(1, "etcd"))
    for time, process, cpu in ((10**9, 7, 1.0), (2 * 10**9, 7, 1.5)):
        plane.take(ProcessSample(time, (1,), (process,), (cpu,), (2**20,)))
    assert shown.rows("components")[0][:5] == ["etcd", "", "50 %", "1Mi", "0"]
    plane.take(ProcessSample(3 * 10**9, (), (), (), ()))
    assert shown.rows("components")[0][1:5] == ["ended", "", "", "0"]
    plane.take(ProcessSample(4 * 10**9, (1,), (8,), (0.1,), (2**20,)))
    assert shown.rows("components")[0][1:5] == ["", "", "1Mi", "1"]


def test_names_and_messages_of_strangers_stay_text() -> None:
    shown = Shown()
    shown.cluster.node("n", faults=msgspec.json.encode([{"fault": EVIL}]).decode())
    shown.cluster.pod("p", message=EVIL)
    shown.state.faults.take([report("broken", "Landed", message=EVIL)], 1.0)
    said = event_of("page", shown.data)
    assert said.count(b"\n") == 3
    assert "\u202e".encode() not in said
    page = msgspec.json.decode(said.partition(b"data: ")[2])
    tables = [i for section in page["sections"] for i in section["items"] if i["type"] == "table"]
    cells = [cell for table in tables for row in table["rows"] for cell in row]
    assert cells.count(EVIL.replace("\u202e", "⟨U+202E⟩")) == 3


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(-1, "0s"), (0.9, "0s"), (59, "59s"), (60, "1m 0s"), (3599, "59m 59s"), (3600, "1h 0m"), (90_000, "1d 1h")],
)  # fmt: skip
def test_times_are_written_the_less_exactly_the_longer_they_are(seconds: float, said: str) -> None:
    assert lasting(seconds) == said


def test_amounts_are_written_in_the_unit_of_their_resource() -> None:
    assert amount_of("cpu", 1500) == "1.5"
    assert amount_of("cpu", 64_000_000) == "64,000"
    assert amount_of("memory", 3 * 2**30) == "3Gi"
    assert amount_of("nvidia.com/gpu", 80_000) == "80,000"
