"""`measure`: how its words are read, and what it says of records."""

import json
from pathlib import Path

import pytest

from kwokctl.cli.main import run
from kwokctl.measure.pages.page_data import IntervalsItem
from kwokctl.measure.record.record_file import RecordWriter
from kwokctl.measure.running.request import MeasureRequest
from tests.cli.conftest import Kwokctl
from tests.support.measured import BEGIN, END, MS, SHAPE, TEXTS, header, history, life
from tests.support.pages import document_of, items_of, numbers_of_page
from tests.support.recording_runner import RecordingRunner


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """The record of a run of two pods."""
    path = tmp_path / "run.jsonl.gz"
    with RecordWriter(path) as writer:
        writer.begin(header())
        for line in (BEGIN, *TEXTS, SHAPE, *life(1, 0, 5 * MS, 9 * MS), *life(2, 0, 7 * MS), END):
            writer.add(line)
    return path


def test_a_file_is_a_record_whose_figures_are_computed_again(
    in_process: Kwokctl, record: Path
) -> None:
    named = in_process("measure", "report", str(record), "-o", "json")
    done = in_process("measure", str(record), "-o", "json")

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == named.stdout
    assert json.loads(done.stdout)["figures"]["pods.created"]["value"]["value"] == 2


def test_a_page_is_written_with_the_figures_of_the_json_report(
    in_process: Kwokctl, record: Path, tmp_path: Path
) -> None:
    file = tmp_path / "run.html"
    done = in_process("measure", str(record), "-o", "json", "--report", str(file))
    printed = in_process("measure", str(record), "-o", "html", "--with-pods")

    figures = json.loads(done.stdout)["figures"]
    page = document_of(file.read_text("utf-8"))
    p99 = numbers_of_page(page)["pods.created_to_bound.p99"][0]
    assert float(p99) == figures["pods.created_to_bound"]["value"]["p99"]
    assert (tmp_path / "run.pods.csv").read_text("utf-8").count("\n") == 3
    assert f"every pod stands in '{tmp_path / 'run.pods.csv'}'" in done.stderr
    assert [each.name for each in document_of(printed.stdout).downloads] == ["pods.csv"]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("x.jsonl", "--with-pods"), "'--with-pods' needs a page"),
        (("x.jsonl", "--with-pods", "--report", "x.md"), "'--with-pods' needs a page"),
        (
            ("--with-pods", "--report", "x.html", "--repeat", "2", "--", "true"),
            "'--with-pods' is for the page of one run",
        ),
    ],
)
def test_pods_are_kept_only_in_a_page_of_one_run(
    in_process: Kwokctl, record: Path, words: tuple[str, ...], problem: str
) -> None:
    given = [str(record) if word == "x.jsonl" else word for word in words]
    done = in_process("measure", *given)

    assert done.returncode == 2
    assert problem in done.stderr


def test_common_options_may_stand_before_the_file(in_process: Kwokctl, record: Path) -> None:
    done = in_process("measure", "--name", "x", str(record), "-o", "csv")

    assert done.returncode == 0
    assert done.stdout.startswith("group,figure,statistic")


def test_a_failed_assertion_fails_the_command_and_all_are_shown(
    in_process: Kwokctl, record: Path, tmp_path: Path
) -> None:
    asserted = ("--assert", "pods.bound == 3", "--assert", "pods.bound == 2")
    done = in_process("measure", str(record), *asserted, "--report", str(tmp_path / "r.xml"))

    assert done.returncode == 1
    assert "FAILED pods.bound == 3: 2\n" in done.stdout
    assert "ok     pods.bound == 2: 2\n" in done.stdout
    assert 'failures="1"' in (tmp_path / "r.xml").read_text()


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--assert", "pods.bound"), "'--assert' is 'pods.bound', column 11: there must be one of"),
        (("--by", "colour"), "'--by' is 'colour'"),
        (("--by", "label:"), "'--by' is 'label:'"),
        (("--report", "x.pdf"), "'--report' is 'x.pdf', whose ending names no form"),
        (("--from", "now"), "'--from' is 'now'"),
        (("--until", "x"), "no option '--until'"),
    ],
)
def test_words_that_cannot_be_understood_are_refused(
    in_process: Kwokctl, record: Path, words: tuple[str, ...], problem: str
) -> None:
    done = in_process("measure", "report", str(record), *words)

    assert (done.returncode, done.stdout) == (2, "")
    assert problem in done.stderr


def test_an_unknown_word_is_taken_for_a_file(in_process: Kwokctl) -> None:
    done = in_process("measure", "strat")

    assert done.returncode == 2
    assert "'FILE' is 'strat'" in done.stderr


def test_the_figures_are_listed(in_process: Kwokctl) -> None:
    done = in_process("measure", "fields")

    assert done.returncode == 0
    assert "pods.created_to_bound " in done.stdout


def test_alone_it_prints_its_help(in_process: Kwokctl) -> None:
    done = in_process("measure")

    assert done.stdout.startswith("Usage: kwokctl measure [OPTIONS] COMMAND")


def requested(runner: RecordingRunner, *words: str) -> MeasureRequest:
    """Return what a run was asked for."""
    runner.answers["measure_own"] = history([])

    assert run(["measure", *words], runner) == 0
    [(_, arguments, _)] = runner.calls
    request = arguments[2]
    assert isinstance(request, MeasureRequest)
    return request


def test_what_follows_two_dashes_is_the_command_with_its_own_options(
    runner: RecordingRunner, environ: dict[str, str]
) -> None:
    words = ("--record", "x.gz", "--", "kubectl", "get", "-o", "json", "--", "--until")

    request = requested(runner, *words)

    assert request.command == ("kubectl", "get", "-o", "json", "--", "--until")
    assert request.record.name == "x.gz"


def test_options_come_before_the_command(runner: RecordingRunner, environ: dict[str, str]) -> None:
    words = (
        "-l", "app=web", "--namespace=x", "--until", "pods.running >= 5", "--timeout", "90s",
        "--by", "label:team", "--latency", "ready=nodes,exists,Ready",
        "--assert", "pods.created == 0", "--", "true",
    )  # fmt: skip

    request = requested(runner, *words)

    assert (request.scope.selector, request.scope.namespace) == ("app=web", "x")
    assert request.until is not None
    assert request.until.text == "pods.running >= 5"
    assert (request.timeout, request.labels, request.command) == (90.0, ("team",), ("true",))
    assert [each.name for each in request.latencies] == ["ready"]


def test_a_record_gets_a_new_name_in_the_work_folder(
    runner: RecordingRunner, environ: dict[str, str]
) -> None:
    request = requested(runner, "--", "true")

    assert request.record.parent == Path(environ["KWOK_WORKDIR"]) / "measurements"
    assert request.record.name.startswith("kwok-")
    assert request.record.name.endswith(".jsonl.gz")


def test_a_dry_run_says_what_would_be_recorded(
    in_process: Kwokctl, environ: dict[str, str]
) -> None:
    done = in_process("measure", "--dry-run", "--record", "x.gz", "--", "sleep", "5")

    assert done.returncode == 0
    assert "Record the cluster 'kwok' in " in done.stdout
    assert "while 'sleep 5' run" in done.stdout


def test_a_cluster_that_does_not_exist_is_named(in_process: Kwokctl) -> None:
    done = in_process("measure", "--", "true")

    assert done.returncode == 1
    assert "there is no cluster called 'kwok'" in done.stderr


LOAD = """
apiVersion: kwokctl.dev/v1alpha1
kind: Load
metadata: {name: pods}
spec:
  arrivals: {every: 1s}
  count: 3
  create:
  - template: |
      apiVersion: v1
      kind: Pod
      metadata: {name: "{{ .name }}"}
      spec: {containers: [{name: x, image: x}]}
"""


def test_loads_are_read_before_anything_is_measured(
    runner: RecordingRunner, tmp_path: Path
) -> None:
    file = tmp_path / "load.yaml"
    file.write_text(LOAD)

    request = requested(runner, "--load", str(file), "--seed", "7", "--speed", "2")

    assert [each.name for each in request.loads] == ["pods"]
    assert (request.seed, request.speed) == (7, 2.0)
    assert request.scope.run


def test_a_load_that_is_wrong_is_named_with_its_place(in_process: Kwokctl, tmp_path: Path) -> None:
    (tmp_path / "load.yaml").write_text(LOAD.replace("every: 1s", "every: often"))

    done = in_process("measure", "--load", "load.yaml")

    assert done.returncode == 1
    assert "spec.arrivals" in done.stderr
    assert done.stdout == ""


def repeated(runner: RecordingRunner, *words: str) -> tuple[list[MeasureRequest], str]:
    """Return what each of several runs was asked for, and the command that resets the cluster."""
    runner.answers["repeat_own"] = []

    assert run(["measure", *words], runner) == 1  # no run has come
    [(_, arguments, _)] = runner.calls
    return arguments[2], arguments[3]


def test_each_of_several_runs_has_its_record_and_perhaps_its_seed(
    runner: RecordingRunner, environ: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "load.yaml").write_text(LOAD)
    words = ("--load", str(tmp_path / "load.yaml"), "--record", str(tmp_path / "x.jsonl.gz"))

    requests, reset = repeated(runner, *words, "--repeat", "2", "--warm-up", "1", "--vary-seed")

    assert [each.record.name for each in requests] == [
        "x-warm-up-1.jsonl.gz",
        "x-1.jsonl.gz",
        "x-2.jsonl.gz",
    ]
    assert ([each.seed for each in requests], reset) == ([0, 0, 1], "")


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--warm-up", "1", "--", "true"), "'--warm-up' needs '--repeat'"),
        (("--reset", "true", "--", "true"), "'--reset' needs '--repeat'"),
        (("--repeat", "3"), "'--repeat' needs runs that end by themselves"),
        (("--repeat", "0", "--", "true"), "'--repeat' is 0, less than 1"),
        (("--repeat", "3", "--vary-seed", "--", "true"), "'--vary-seed' needs '--load'"),
        (
            ("--repeat", "3", "--kubeconfig", "k", "--", "true"),
            "'--repeat' cannot rewind a cluster",
        ),
    ],
)
def test_several_runs_that_make_no_sense_are_refused_before_anything_begins(
    in_process: Kwokctl, tmp_path: Path, words: tuple[str, ...], problem: str
) -> None:
    (tmp_path / "k").touch()
    given = tuple(str(tmp_path / "k") if word == "k" else word for word in words)

    done = in_process("measure", *given)

    assert (done.returncode, done.stdout) == (2, "")
    assert problem in done.stderr


def test_a_dry_run_says_how_often_and_how_the_cluster_is_reset(in_process: Kwokctl) -> None:
    done = in_process("measure", "--dry-run", "--repeat", "5", "--warm-up", "1", "--", "true")

    assert "Do so 5 times after 1 that do not count, each after a rewind" in " ".join(
        done.stdout.split()
    )


@pytest.fixture
def sides(tmp_path: Path) -> tuple[str, str]:
    """Four runs of A, and four of B that are a third slower."""
    for side, latencies in (("a", (90, 91, 92, 93)), ("b", (120, 121, 122, 123))):
        (tmp_path / side).mkdir()
        for number, latency in enumerate(latencies):
            with RecordWriter(tmp_path / side / f"{number}.jsonl.gz") as writer:
                writer.begin(header())
                for line in (BEGIN, *TEXTS, SHAPE, *life(1, 0, latency * MS, 900 * MS), END):
                    writer.add(line)
    return str(tmp_path / "a"), str(tmp_path / "b")


@pytest.mark.parametrize(
    ("words", "code"),
    [((), 0), (("--max-worse", "50%"), 0), (("--max-worse", "5%"), 1), (("--max-worse", "0 %"), 1)],
)
def test_a_comparison_fails_only_beyond_the_limit(
    in_process: Kwokctl, sides: tuple[str, str], words: tuple[str, ...], code: int
) -> None:
    done = in_process("measure", "compare", *sides, *words, "-o", "json")

    assert (done.returncode, done.stderr) == (code, "")
    report = json.loads(done.stdout)
    assert [each["verdict"] for each in report["figures"]] == ["worse", "worse"]
    assert report["passed"] is (code == 0)


def test_a_comparison_is_a_page_with_the_figures_of_its_json(
    in_process: Kwokctl, sides: tuple[str, str], tmp_path: Path
) -> None:
    file = tmp_path / "compared.html"
    done = in_process("measure", "compare", *sides, "-o", "json", "--report", str(file))
    printed = in_process("measure", "compare", *sides, "-o", "html")

    figures = {each["figure"]: each for each in json.loads(done.stdout)["figures"]}
    assert file.read_text("utf-8") == printed.stdout
    item = items_of(document_of(printed.stdout))["differences"]
    assert isinstance(item, IntervalsItem)
    assert {row.name: (row.verdict, row.low) for row in item.rows} == {
        name: ("worse", 100 * (each["low"] - 1)) for name, each in figures.items()
    }


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("only",), "'kwokctl measure compare' needs A and B, and 1 were given"),
        (("--run-a", "true"), "'--run-a' and '--run-b' go together"),
        (("a", "b", "--run-a", "true", "--run-b", "true"), "'--run-a' and '--run-b' go together"),
        (("a", "b", "--max-worse", "5"), "'--max-worse' is '5', not a percentage"),
        (("a", "b", "--repeat", "5", "--vary-seed"), "'--vary-seed' needs '--load'"),
        (
            ("--run-a", "true", "--run-b", "true", "--figure", "pods.bound"),
            "neither less nor more is better",
        ),
    ],
)
def test_comparisons_that_make_no_sense_are_refused(
    in_process: Kwokctl, words: tuple[str, ...], problem: str
) -> None:
    done = in_process("measure", "compare", *words)

    assert (done.returncode, done.stdout) == (2, "")
    assert problem in done.stderr


def test_commands_to_compare_are_measured_in_turn(
    runner: RecordingRunner, environ: dict[str, str], tmp_path: Path
) -> None:
    runner.answers["repeat_own"] = []
    base = str(tmp_path / "x.jsonl.gz")
    words = ("--run-a", "./one.sh", "--run-b", "./two.sh", "--repeat", "2", "--record", base)

    run(["measure", "compare", *words], runner)

    [(_, arguments, _)] = runner.calls
    assert [(each.record.name, each.command[-1]) for each in arguments[2]] == [
        ("x-a-1.jsonl.gz", "./one.sh"),
        ("x-b-1.jsonl.gz", "./two.sh"),
        ("x-a-2.jsonl.gz", "./one.sh"),
        ("x-b-2.jsonl.gz", "./two.sh"),
    ]


def test_a_dry_run_of_a_comparison_says_what_would_be_measured(in_process: Kwokctl) -> None:
    done = in_process("measure", "compare", "--dry-run", "--run-a", "x", "--run-b", "y")

    assert "Measure 'x' and 'y' in turn, and compare them. Do so 5 times" in " ".join(
        done.stdout.split()
    )
