"""Which records are compared, and which are refused."""

from pathlib import Path

import pytest

from kwokctl.errors import ConfigError, NotFoundError
from kwokctl.measure.comparing.sample import SampleRequest, read_sample, records_of
from tests.support.compared import P50, write


def test_runs_that_failed_are_refused_by_name(tmp_path: Path) -> None:
    write(tmp_path / "web-1.jsonl.gz", 5)
    write(tmp_path / "web-2.jsonl.gz", 5, end=None)

    with pytest.raises(ConfigError, match="has runs that cannot be compared") as raised:
        read_sample("web", records_of(str(tmp_path / "web")), SampleRequest(figures=(P50,)))

    assert raised.value.detail == (
        f"{tmp_path}/web-2.jsonl.gz: invalid: the end of the record is missing"
    )


def test_warm_up_runs_do_not_count(tmp_path: Path) -> None:
    write(tmp_path / "web" / "web-1.jsonl.gz", 5)
    write(tmp_path / "web" / "web-warm-up-1.jsonl.gz", 9000, warm_up=True)
    wanted = SampleRequest(figures=(P50,))

    read = read_sample("web", records_of(str(tmp_path / "web")), wanted)

    assert [Path(run.record).name for run in read.runs] == ["web-1.jsonl.gz"]
    warm_ups = records_of(str(tmp_path / "web" / "web-warm-up*"))
    with pytest.raises(NotFoundError, match="no runs but warm-up runs"):
        read_sample("web", warm_ups, wanted)


@pytest.mark.parametrize("name", ["web", "web.jsonl.gz", "web-*.jsonl.gz", "folder", "folder/"])
def test_records_are_named_by_folder_pattern_or_base_and_are_in_their_order(
    tmp_path: Path, name: str
) -> None:
    at = tmp_path / "folder" if name.startswith("folder") else tmp_path
    for number in (10, 9, 1):
        write(at / f"web-{number}.jsonl.gz", 5)
    (at / "report.json").touch()

    found = records_of(str(tmp_path / name))

    assert [each.name for each in found] == [f"web-{number}.jsonl.gz" for number in (1, 9, 10)]


def test_runs_that_were_numbered_twice_are_in_the_order_of_both_numbers(tmp_path: Path) -> None:
    for name in ("a-10-1", "a-9-2", "a-9-1", "a-9-10"):
        write(tmp_path / f"{name}.jsonl.gz", 5)

    found = [each.name.removesuffix(".jsonl.gz") for each in records_of(str(tmp_path / "a-*"))]

    assert found == ["a-9-1", "a-9-2", "a-9-10", "a-10-1"]


def test_a_name_of_no_record_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="names no record"):
        records_of(str(tmp_path / "web"))
