"""What tests make once and keep: see tests/support/kept.py."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.kept import kept

ROOT = Path(__file__).parents[2]
OTHERS = """
import sys
from pathlib import Path
from tests.support.kept import kept
for name, part in (("tool-more", b""), ("tool", b"1"), ("tool", b"2"), ("tool", b"3")):
    kept(name, [part], lambda folder: None, within=Path(sys.argv[1]))
"""
"""Uses folders until it ends."""


def writing(text: str) -> Callable[[Path], object]:
    return lambda folder: (folder / "text").write_text(text)


def text(within: Path, made_from: bytes, made: str) -> str:
    return (kept("tool", [made_from], writing(made), within=within) / "text").read_text()


def test_it_is_made_once_for_what_it_is_made_from(tmp_path: Path) -> None:
    assert text(tmp_path, b"a", "first") == "first"
    assert text(tmp_path, b"a", "second") == "first"
    assert text(tmp_path, b"b", "third") == "third"


def test_parts_are_not_joined(tmp_path: Path) -> None:
    one = kept("tool", [b"ab", b"c"], writing(""), within=tmp_path)

    assert kept("tool", [b"a", b"bc"], writing(""), within=tmp_path) != one


def test_what_was_not_finished_is_made_anew(tmp_path: Path) -> None:
    def interrupted(folder: Path) -> None:
        (folder / "half").touch()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kept("tool", [b"a"], interrupted, within=tmp_path)
    folder = kept("tool", [b"a"], writing("whole"), within=tmp_path)

    assert (folder / "text").read_text() == "whole"
    assert not (folder / "half").exists()


def test_old_ones_go_unless_they_are_used_or_have_another_name(tmp_path: Path) -> None:
    used = kept("tool", [b"used"], writing(""), within=tmp_path)
    subprocess.run([sys.executable, "-c", OTHERS, tmp_path], cwd=ROOT, check=True)
    assert len([*tmp_path.glob("tool-*/")]) == 5

    now = kept("tool", [b"now"], writing(""), within=tmp_path)

    left = {*tmp_path.glob("tool-*/")}
    assert {used, now} <= left
    assert len(left) == 4
    assert [*tmp_path.glob("tool-more-*/")] != []
