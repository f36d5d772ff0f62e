import subprocess
import sys
from enum import StrEnum
from pathlib import Path

import msgspec
import pytest

from kwokctl.cli.output import results
from tests.support.shell_rig import shell


class Colour(StrEnum):
    RED = "red"


class Inner(msgspec.Struct, frozen=True):
    host_port: int


class Outer(msgspec.Struct, frozen=True):
    kube_version: str
    path: Path
    colour: Colour
    ports: tuple[Inner, ...]
    found: None = None


VALUE = Outer(kube_version="v1", path=Path("/x"), colour=Colour.RED, ports=(Inner(host_port=1),))


def test_values_become_json_with_the_names_that_kubernetes_would_use(
    capfd: pytest.CaptureFixture[str],
) -> None:
    results.emit_data([VALUE], "json")
    assert capfd.readouterr().out == (
        "[\n  {\n"
        '    "kubeVersion": "v1",\n    "path": "/x",\n    "colour": "red",\n'
        '    "ports": [\n      {\n        "hostPort": 1\n      }\n    ],\n    "found": null\n'
        "  }\n]\n"
    )


def test_values_become_yaml_in_the_same_order(capfd: pytest.CaptureFixture[str]) -> None:
    results.emit_data(VALUE, "yaml")
    assert capfd.readouterr().out == (
        "kubeVersion: v1\npath: /x\ncolour: red\nports:\n- hostPort: 1\nfound: null\n"
    )


def test_columns_are_as_wide_as_their_widest_cell_and_cells_keep_to_one_line(
    capfd: pytest.CaptureFixture[str],
) -> None:
    results.emit_table(("NAME", "STATUS"), [("kwok", "Ready"), ("much-longer", "Error:\nlost")])
    assert capfd.readouterr().out == (
        "NAME          STATUS\nkwok          Ready\nmuch-longer   Error: lost\n"
    )


def test_nothing_at_all_is_written_for_no_result(capfd: pytest.CaptureFixture[str]) -> None:
    results.emit("")
    assert capfd.readouterr().out == ""


_TABLE = """
from kwokctl.cli.output import results
widths = results.emit_table(("NAME", "MESSAGE"), [("etcd", "m" * 100)])
results.emit_table((), [("x", "later")], widths=widths)
"""


def test_a_table_is_no_wider_than_the_terminal_that_it_is_on(environ: dict[str, str]) -> None:
    with shell([sys.executable, "-c", _TABLE], environ | {"COLUMNS": "40"}) as terminal:
        table = terminal.until(r"^NAME .*\n(?P<row>.*)\n(?P<later>.*)\n")
    assert table["row"] == "etcd   " + "m" * 32 + "…"
    assert table["later"] == "x      later"


@pytest.mark.parametrize(
    ("columns", "row"),
    [
        (29, "etcd   Ready   3.6.16   /path"),
        (28, "etcd  Ready  3.6.16  /path"),
        (23, "etcd Ready 3.6.16 /path"),
        (22, "etcd   Ready   …"),
        (20, "etcd   Ready   …"),
        (16, "etcd   Ready   …"),
        (15, "etcd   …"),
        (3, "et…"),
    ],
)
def test_columns_move_together_before_one_is_left_out_and_what_is_short_is_not_cut_within(
    environ: dict[str, str], columns: int, row: str
) -> None:
    script = "from kwokctl.cli.output import results\n"
    script += "results.emit_table((), [('etcd', 'Ready', '3.6.16', '/path')], widths=(4, 5, 6, 5))"
    with shell([sys.executable, "-c", script], environ | {"COLUMNS": str(columns)}) as terminal:
        assert terminal.until(r"^(?P<row>.+)\n")["row"] == row


@pytest.mark.parametrize(
    ("columns", "text"),
    [
        (40, "pod-fast   Pods run at once, and those\n           of Jobs complete.\n"),
        (30, "pod-fast   Pods run at once, …\n"),
    ],
)
def test_prose_in_the_last_column_goes_on_in_the_next_line_where_it_has_room(
    environ: dict[str, str], columns: int, text: str
) -> None:
    script = "from kwokctl.cli.output import results\n"
    script += "row = ('pod-fast', 'Pods run at once, and those of Jobs complete.')\n"
    script += "results.emit_table((), [row, ('x', 'end')], widths=(8, 45), ends_in_prose=True)"
    with shell([sys.executable, "-c", script], environ | {"COLUMNS": str(columns)}) as terminal:
        assert terminal.until(r"^(?P<row>(.+\n)+)x +end\n")["row"] == text


def test_a_table_in_a_pipe_is_whole(environ: dict[str, str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _TABLE], env=environ, capture_output=True, text=True, check=True
    )
    assert "m" * 100 in done.stdout


@pytest.fixture
def environ() -> dict[str, str]:
    return {"PYTHONPATH": str(Path(__file__).parents[4]), "COLUMNS": "40"}
