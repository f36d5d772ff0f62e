from kwokctl.cli.output.progress_rows import Row, about, amount, safe, took


def row(*, total: int | None = None, unit: str = "") -> Row:
    return Row(title="Fetching", total=total, unit=unit, started=100.0, depth=0)


def test_bytes_are_shown_in_megabytes_and_other_things_are_counted() -> None:
    fetching = row(total=40_000_000, unit="B")
    fetching.advance(12_500_000)
    assert fetching.so_far(101.1) == "12.5 MB of 40.0 MB, 1.1 s"

    making = row(total=5000, unit="nodes")
    making.advance(1200)
    assert making.so_far(101.0) == "1,200 of 5,000 nodes, 1.0 s"


def test_rate_and_time_left_are_shown_from_the_third_second_on() -> None:
    making = row(total=15_606, unit="pods")
    making.advance(900)
    assert making.so_far(101.9) == "900 of 15,606 pods, 1.9 s"
    assert making.so_far(102.0) == "900 of 15,606 pods, 450/s, 33 s left, 2.0 s"

    fetching = row(unit="B")
    fetching.advance(12_500_000)
    assert fetching.so_far(105.0) == "12.5 MB, 2.5 MB/s, 5.0 s"


def test_the_rate_of_a_slow_network_is_not_shown_as_none() -> None:
    fetching = row(unit="B")
    fetching.expect(40_000_000)
    fetching.advance(500_000)
    assert fetching.so_far(110.0) == "500 kB of 40.0 MB, 50 kB/s, 13 min 10 s left, 10.0 s"


def test_the_rate_is_that_of_the_last_ten_seconds() -> None:
    making = row(total=10_000, unit="nodes")
    said = ""
    for second in range(1, 31):
        making.advance(100 if second <= 10 else 5)
        said = making.so_far(100.0 + second)

    assert said == "1,100 of 10,000 nodes, 5.0/s, 29 min 40 s left, 30.0 s"


def test_a_step_that_stalls_or_is_done_shows_no_time_left() -> None:
    making = row(total=10, unit="nodes")
    assert making.so_far(130.0) == "0 of 10 nodes, 30.0 s"

    making.advance(10)
    assert making.so_far(105.0) == "10 of 10 nodes, 2.0/s, 5.0 s"


def test_one_thing_is_shown_in_the_singular() -> None:
    units = ("nodes", "leases", "ingresses", "networkpolicies", "images", "classes", "")
    assert [amount(1, unit) for unit in units] == [
        "1 node", "1 lease", "1 ingress", "1 networkpolicy", "1 image", "1 class", "1",
    ]  # fmt: skip
    assert amount(0, "nodes") == "0 nodes"


def test_the_current_item_comes_last_and_without_control_characters() -> None:
    building = row()
    building.say("compiling \x1b[31mk8s.io/api")
    assert building.so_far(100.0) == "0.0 s, compiling [31mk8s.io/api"


def test_the_end_of_a_step_shows_the_total() -> None:
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
    assert [about(28.6), about(59.7), about(12_034)] == ["29 s", "1 min 00 s", "3 h 21 min"]
    assert [amount(1000, "pods"), amount(7, ""), amount(1_500_000, "B")] == ["1,000 pods", "7", "1.5 MB"]  # fmt: skip


def test_line_ends_and_tabs_survive_the_cleaning() -> None:
    assert safe("a\x00b\tc\nd\r\x07é") == "ab\tc\ndé"
