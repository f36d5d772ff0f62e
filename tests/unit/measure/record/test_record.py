"""The file of a record: round trip, its limit of size, and what is said of files that are not whole."""

import re
from pathlib import Path

import msgspec
import pytest

from kwokctl.errors import ConfigError, ConflictError
from kwokctl.measure.histories.history_files import history_of
from kwokctl.measure.record import fleet_lines, incident_lines, plane_lines, record_lines
from kwokctl.measure.record.fault_lines import FaultChange, FaultGone, FaultSeen
from kwokctl.measure.record.gang_lines import GangChange, GangGone
from kwokctl.measure.record.line import Line
from kwokctl.measure.record.record_file import RecordReader, RecordWriter
from tests.support.measured import BEGIN, END, SHAPE, gang, header, job, life, seen, sent

LONGEST = 200
"""Bytes of a change before compression."""
ALL = [
    BEGIN,
    record_lines.RecordText(1, "Ready"),
    SHAPE,
    *life(1, 5, 6, 7, 8),
    record_lines.PodGone(9, 1),
    job(1, 5),
    record_lines.JobChange(6, 1, "Complete", 1),
    record_lines.JobGone(7, 1),
    record_lines.Milestone(6, 0, "uid", "default", "claim", True, False),
    sent(0, 5, accepted=None, refusal="quota", made=("a", "b")),
    record_lines.ApiProbe(5, 6, 200),
    record_lines.Gap(1, 2, "pods", "the watch ended"),
    record_lines.Behind(5, 2_000_000_000),
    fleet_lines.NodeSeen(5, 1, "n1", True, 1, 0, 0, True, False),
    fleet_lines.NodeChange(6, 1, 1, 0, 0, False, True),
    fleet_lines.NodeGone(7, 1),
    fleet_lines.OtherRequests(5, "n1", 2, 1),
    fleet_lines.PodInterruption(8, 1, 0, 1),
    gang(1, 5, "podgroups.scheduling.k8s.io"),
    GangChange(6, 1, "Complete", 2),
    GangGone(7, 1),
    plane_lines.MetricsSample(5, 1, -7, True, (1, 1), (3, (0, 1, 2.5))),
    plane_lines.ProcessSample(5, (1,), (77,), (0.25,), (4096,), (1,)),
    plane_lines.ClientCount(5, 1, 409, 2),
    FaultSeen(5, 1, "lost", "xid-79", "Injecting", 2, False),
    FaultChange(6, 1, "Landed", 2),
    FaultGone(7, 1),
    incident_lines.FaultTruth(6, 1, "fatal", "device", 10**18, 0, {"aks": ("GpuMissing=True",)}),
    incident_lines.FaultUnitState(6, 1, "n1", 3, 0.25, ""),
    incident_lines.NodeAct(7, 1, 1, 0),
    incident_lines.RepairState(
        7, 1, "r", "n1", "reboot", "Running", "label", "me", 1, 2, 0, ("lost",), ()
    ),
    incident_lines.ScheduleState(7, 1, "storm", "Running", 9, 3, {"Limit": 2}, 1.0, 60.0),
    incident_lines.WatchLag(7, 4_000_000),
    incident_lines.PhaseReached(8, 0, "n1", True),
    incident_lines.SentAct(8, 9, 1, "default", "web-1", 1, False),
    incident_lines.GuardedPodEnds(9, "default", "web-1", "guard"),
    END,
]


def write(path: Path, *content: record_lines.Lines) -> Path:
    with RecordWriter(path) as writer:
        writer.begin(header())
        for line in content:
            writer.add(line)
    return path


@pytest.mark.parametrize("name", ["run.jsonl", "run.jsonl.gz"])
def test_what_was_written_is_read(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / name, *ALL)

    record = RecordReader(path)

    assert record.header == header()
    assert list(record.lines()) == ALL
    assert not record.is_cut
    assert (path.read_bytes()[:2] == b"\x1f\x8b") is name.endswith(".gz")


def test_every_type_of_line_is_among_those_that_were_written() -> None:
    types = {type(line) for line in ALL}

    assert types == set(Line.__subclasses__())


def test_a_change_takes_at_most_two_hundred_bytes_with_names_as_long_as_labels() -> None:
    name, node, hour = "n" * 63, "node-" + "0" * 40, 3_600_000_000_000
    uid = "2218cb62-3d91-48be-9d5d-359060f2e5fa"
    first = seen(100_000, hour, uid=uid, name=name, namespace="default", shape=1000)
    change = record_lines.PodChange(hour, 100_000, node, "Succeeded", 12, 345, True)

    of_node = fleet_lines.NodeSeen(hour, 10_000, name, False, 12, 10_000, 345, False, False, 10_000)
    of_others = fleet_lines.OtherRequests(hour, name, 100_000, 100_000)

    changes = (first, change, of_node, of_others)
    sizes = [len(msgspec.json.encode(line)) + 1 for line in changes]

    assert max(sizes) <= LONGEST, sizes


def test_a_node_of_a_record_before_version_three_has_no_place(tmp_path: Path) -> None:
    path = tmp_path / "old.jsonl"
    old = b'["n",5,1,"n1",true,0,0,0,true,false]\n'
    path.write_bytes(msgspec.json.encode(header(version=2)) + b"\n" + old)

    assert history_of(path).fleet.node_of["n1"].place == ""


def test_the_writer_counts_lines_and_bytes_before_compression(tmp_path: Path) -> None:
    plain = write(tmp_path / "plain.jsonl", *ALL)
    with RecordWriter(tmp_path / "x.jsonl.gz") as writer:
        writer.begin(header())
        for line in ALL:
            writer.add(line)

    first, *rest = plain.read_bytes().splitlines(keepends=True)
    assert first.startswith(b'{"form":"kwokctl.dev/measure-record","version":4,')
    assert (writer.lines, writer.size) == (len(rest), sum(map(len, rest)))


@pytest.mark.parametrize("name", ["run.jsonl", "run.jsonl.gz"])
def test_of_a_record_whose_end_is_missing_the_beginning_is_read(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / name, *ALL)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) - 20])

    found = history_of(path)

    assert found.is_cut
    assert "begin" in found.moments


def test_what_is_flushed_can_be_read_before_the_end(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl.gz"
    with RecordWriter(path) as writer:
        writer.begin(header())
        writer.add(BEGIN)
        writer.flush()
        copy = tmp_path / "copy.jsonl.gz"
        copy.write_bytes(path.read_bytes())

    assert list(RecordReader(copy).lines()) == [BEGIN]


def test_a_record_is_never_written_over(tmp_path: Path) -> None:
    path = write(tmp_path / "run.jsonl")
    before = path.read_bytes()

    with pytest.raises(ConflictError, match=re.escape(f"'{path}' exists already")):
        write(path)

    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"", b"hello\n", b'{"form": "x"}\n', b"[]\n", b"\xff\xfe"])
def test_another_file_is_not_a_record(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)

    with pytest.raises(ConfigError, match="is not a record"):
        history_of(path)


def test_a_file_that_only_begins_like_a_compressed_one_is_not_a_record(tmp_path: Path) -> None:
    path = tmp_path / "x.gz"
    path.write_bytes(b"\x1f\x8bnonsense, which is longer than a header")

    with pytest.raises(ConfigError, match="is not a record"):
        history_of(path)


def test_a_record_of_a_later_version_names_the_kwokctl_that_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(msgspec.json.encode(header(version=record_lines.VERSION + 1)) + b"\n")

    with pytest.raises(
        ConfigError, match=f"is a record of version {record_lines.VERSION + 1}"
    ) as raised:
        history_of(path)

    assert raised.value.hint == "use kwokctl 0.0 or later"


@pytest.mark.parametrize("row", ['["z",1]', '["c","soon"]', "nonsense"])
def test_a_line_that_cannot_be_understood_is_named(tmp_path: Path, row: str) -> None:
    path = write(tmp_path / "x.jsonl", BEGIN)
    path.write_bytes(path.read_bytes() + row.encode() + b"\n")

    with pytest.raises(ConfigError, match="line 3 of"):
        history_of(path)


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("[" * 100_000, "it is nested too deeply"),
        ("x" * (64 * 1024**2 + 1), "it is longer than 67,108,864 bytes"),
        ('["x",1,900,0,true,[901],[1]]', "it does not go with the lines before it"),
    ],
    ids=["nested", "long", "without its text"],
)
def test_a_crafted_line_is_an_error_with_its_number(tmp_path: Path, row: str, problem: str) -> None:
    path = write(tmp_path / "x.jsonl", BEGIN)
    path.write_bytes(path.read_bytes() + row.encode() + b"\n")

    with pytest.raises(ConfigError, match=f"line 3 of .* cannot be understood: {problem}"):
        history_of(path)


def test_a_line_with_more_fields_is_read_as_later_versions_may_add_some(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl")
    path.write_bytes(path.read_bytes() + b'["q",5,6,200,"more"]\n')

    assert history_of(path).probes == [record_lines.ApiProbe(5, 6, 200)]


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: no such file"):
        history_of(tmp_path / "nothing")
