"""Traces: CSV, JSON lines and recordings, and what is wrong with one."""

import gzip
from pathlib import Path

import pytest

from kwokctl.errors import ConfigError
from kwokctl.load.description.traces import read_trace
from tests.support.load_rig import load_of, play, played

_RECORDING = """
apiVersion: v1
kind: Pod
metadata: {name: there-before}
---
apiVersion: action.kwok.x-k8s.io/v1alpha1
kind: ResourcePatch
resource: {version: v1, resource: pods}
target: {name: late, namespace: default}
durationNanosecond: 3000000000
method: create
template: {apiVersion: v1, kind: Pod, metadata: {name: late, namespace: default, uid: old}, status: {phase: Pending}}
---
apiVersion: action.kwok.x-k8s.io/v1alpha1
kind: ResourcePatch
resource: {version: v1, resource: pods}
target: {name: early, namespace: default}
durationNanosecond: 1000000000
method: create
template: {apiVersion: v1, kind: Pod, metadata: {name: early, namespace: default}, spec: {nodeName: node-1}}
---
apiVersion: action.kwok.x-k8s.io/v1alpha1
kind: ResourcePatch
resource: {version: v1, resource: pods}
target: {name: owned, namespace: default}
durationNanosecond: 2000000000
method: create
template: {apiVersion: v1, kind: Pod, metadata: {name: owned, ownerReferences: [{kind: Job, name: a, uid: b}]}}
---
apiVersion: action.kwok.x-k8s.io/v1alpha1
kind: ResourcePatch
resource: {version: v1, resource: pods}
target: {name: early, namespace: default}
durationNanosecond: 4000000000
method: delete
"""


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "trace"
    path.write_text(text)
    return path


def test_a_table_has_times_and_columns(tmp_path: Path) -> None:
    rows = read_trace(write(tmp_path, "time,gpus,name\n10,8,big\n0.5,1,small\n1m30s,2,\n"))
    assert [(row.seconds, dict(row.columns)) for row in rows] == [
        (0.5, {"gpus": 1, "name": "small"}),
        (10.0, {"gpus": 8, "name": "big"}),
        (90.0, {"gpus": 2, "name": None}),
    ]


def test_points_in_time_count_from_the_first_line(tmp_path: Path) -> None:
    text = "time,a\n2026-01-01T00:00:10Z,1\n2026-01-01T00:00:12.5Z,2\n"
    assert [row.seconds for row in read_trace(write(tmp_path, text))] == [0.0, 2.5]


def test_lines_of_json_have_times_and_parameters(tmp_path: Path) -> None:
    text = '{"time": 1, "gpus": 8}\n\n{"time": "0s", "params": {"gpus": [1, 2]}}\n'
    rows = read_trace(write(tmp_path, text))
    assert [(row.seconds, row.columns["gpus"]) for row in rows] == [(0.0, [1, 2]), (1.0, 8)]


def test_a_trace_may_be_compressed(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv.gz"
    path.write_bytes(gzip.compress(b"time\n3\n"))
    assert [row.seconds for row in read_trace(path)] == [3.0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("gpus\n1\n", "line 1: there is no column 'time'"),
        ("time,gpus\n1\n", "line 2: has not as many values"),
        ("time\n1,2\n", "line 2: has not as many values"),
        ("time\nsoon\n", "line 2: has the time 'soon'"),
        ("time\n-1\n", "line 2: has the time '-1', which is before the beginning"),
        ("time\n", "has no arrival"),
        ('{"time": 1}\n{"gpus": 1}\n', "line 2: has no 'time'"),
        ('{"time": 1}\n{"time"\n', "line 2: is no JSON object"),
        ('{"time": NaN}\n', "line 1: is no JSON object"),
        ('{"time": ' + "[" * 100_000 + "\n", "line 1: is no JSON object"),
        (f"time,a\n1,{'a' * 200_000}\n", "line 2: is no row of a table: field larger than"),
        ("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n", "has no arrival"),
    ],
)
def test_what_is_wrong_with_a_trace_is_named_with_its_line(
    text: str, said: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=said):
        read_trace(write(tmp_path, text))


def test_a_trace_that_is_too_large_once_it_is_unpacked_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv.gz"
    with gzip.open(path, "wb", 1) as file:
        for _ in range(257):
            file.write(b"\n" * 1024**2)

    with pytest.raises(ConfigError, match="has more than 256 MiB"):
        read_trace(path)


def test_a_missing_trace_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        read_trace(tmp_path / "none.csv")


def test_arrivals_follow_the_trace_and_its_columns_are_parameters(tmp_path: Path) -> None:
    write(tmp_path, "time,gpus\n4,8\n1,2\n")
    template = """
apiVersion: v1
kind: Pod
metadata: {annotations: {gpus: "{{ .params.gpus }} {{ .params.same }} {{ .params.fixed }}"}}
"""
    load = load_of(
        {"trace": "trace"},
        folder=tmp_path,
        params={"same": {"column": "gpus"}, "fixed": "x"},
        create=[{"template": template}],
    )
    _, observed, used = played(load)
    assert [each.due / 1e9 for each in observed.arrivals] == [1.0, 4.0]
    assert [each["metadata"]["annotations"]["gpus"] for each in used.bodies] == ["2 2 x", "8 8 x"]


def test_a_column_that_a_line_lacks_is_named(tmp_path: Path) -> None:
    write(tmp_path, '{"time": 1, "gpus": 8}\n{"time": 2}\n')
    load = load_of({"trace": "trace"}, folder=tmp_path, params={"n": {"column": "gpus"}})
    with pytest.raises(ExceptionGroup) as error:
        play([load])
    assert "arrival 1 of the trace has no column 'gpus'" in repr(error.value.exceptions)


def test_what_was_created_in_a_recording_arrives_again_without_what_controllers_made(
    tmp_path: Path,
) -> None:
    write(tmp_path, _RECORDING.lstrip())
    _, observed, used = played(load_of({"trace": "trace"}, folder=tmp_path, create=None))
    assert [each.due / 1e9 for each in observed.arrivals] == [1.0, 3.0]
    assert [each["metadata"]["name"] for each in used.bodies] == ["early", "late"]
    assert "nodeName" not in used.bodies[0]["spec"]
    assert "status" not in used.bodies[1]


def test_a_trace_that_says_only_when_needs_something_to_create(tmp_path: Path) -> None:
    write(tmp_path, "time\n1\n")
    with pytest.raises(ConfigError, match=r"'spec.create' is missing: the trace says when"):
        load_of({"trace": "trace"}, folder=tmp_path, create=None)
