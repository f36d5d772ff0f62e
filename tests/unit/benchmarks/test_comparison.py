from benchmarks.comparison import Comparison, Side, Work, table
from benchmarks.results import Machine
from kwokctl.replacing import replace

NODES = Work(
    what="`scale node --replicas 10`",
    unit="s",
    other=Side(values=(40.0, 90.0, 30.0), cpu=(20.0, 30.0, 10.0)),
    ours=Side(values=(4.0, 3.0, 90.0), cpu=(2.0, 1.5, 9.0)),
)
IDLE = Work(
    what="10 nodes, idle",
    unit="%",
    other=Side(values=(8.0,), note="a renewal per 50 s"),
    ours=Side(values=(2.0,)),
)
MEASURED = Comparison(
    machine=Machine(processor="a processor", cores=2, memory_gib=24, system="Linux 6"),
    versions={"kwokctl": "1", "kwokctl in Go": "0.8"},
    date="2026-11-29",
    rounds=3,
    load=4.6,
    works=(NODES, IDLE),
)


def test_each_row_has_medians_and_the_ratio_of_their_cpu() -> None:
    assert table(MEASURED).splitlines()[2:4] == [
        "| `scale node --replicas 10` | 40 s, CPU 20 s | 4 s, CPU 2 s | 0.1 |",
        "| 10 nodes, idle | 8 % (a renewal per 50 s) | 2 % | 0.25 |",
    ]


def test_the_table_says_where_it_was_measured() -> None:
    *_, last = table(MEASURED).splitlines()

    assert last == (
        "3 rounds in turn, medians, on 2026-11-29: 2 cores (a processor), kwokctl 1, kwokctl in Go 0.8. "
        "CPU is that of all processes."
    )


def test_times_are_not_shown_of_a_machine_with_much_other_work() -> None:
    lines = table(replace(MEASURED, load=34.6)).splitlines()

    assert lines[2] == "| `scale node --replicas 10` | CPU 20 s | CPU 2 s | 0.1 |"
    assert "a load of up to 35" in lines[-1]
