from kwokctl.cli.rows import Row, amount, safe, took


def row(*, total: int | None = None, unit: str = "") -> Row:
    return Row(title="Fetching", total=total, unit=unit, started=100.0, depth=0)


def test_bytes_are_told_in_megabytes_and_other_things_are_counted() -> None:
    fetching = row(total=40_000_000, unit="B")
    fetching.advance(12_500_000)
    assert fetching.so_far(103.1) == "12.5 MB of 40.0 MB, 3.1 s"

    making = row(total=5000, unit="nodes")
    making.advance(1200)
    assert making.so_far(101.0) == "1,200 of 5,000 nodes, 1.0 s"


def test_what_is_being_done_now_is_told_last_and_freed_of_control_characters() -> None:
    building = row()
    building.say("compiling \x1b[31mk8s.io/api")
    assert building.so_far(100.0) == "0.0 s, compiling [31mk8s.io/api"


def test_the_end_of_a_step_tells_what_was_done_in_all() -> None:
    making = row(total=5000, unit="nodes")
    making.advance(5000)
    assert making.in_all(112.0) == "5,000 nodes, 12.0 s"
    assert row().in_all(100.5) == "0.5 s"


def test_the_share_never_exceeds_the_whole() -> None:
    making = row(total=10)
    making.advance(12)
    assert making.share == 1.0
    assert row().share is None


def test_times_and_amounts_are_written_as_people_read_them() -> None:
    assert [took(1.94), took(59.9), took(125.4)] == ["1.9 s", "59.9 s", "2 min 05 s"]
    assert [amount(1000, "pods"), amount(7, ""), amount(1_500_000, "B")] == ["1,000 pods", "7", "1.5 MB"]  # fmt: skip


def test_line_ends_and_tabs_survive_the_cleaning() -> None:
    assert safe("a\x00b\tc\nd\r\x07é") == "ab\tc\ndé"
