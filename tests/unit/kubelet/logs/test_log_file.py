from pathlib import Path

import pytest

from kwokctl.kubelet.logs.file_source import LogFile


def lines_of(file: LogFile) -> list[bytes]:
    found: list[bytes] = []
    while lines := file.read_lines():
        found += lines
    return found


@pytest.mark.parametrize(
    ("tail", "expected"), [(0, []), (1, [b"c"]), (2, [b"b", b"c"]), (9, [b"a", b"b", b"c"])]
)
@pytest.mark.parametrize("end", [b"\n", b""])
def test_the_last_lines_are_found(
    tmp_path: Path, tail: int, expected: list[bytes], end: bytes
) -> None:
    (tmp_path / "log").write_bytes(b"a\nb\nc" + end)
    file = LogFile(str(tmp_path / "log"))

    file.skip_to_last(tail)

    rest = [] if end or not tail else [b"c"]
    found = lines_of(file)
    assert [*found, *filter(None, [file.take_rest()])] == expected
    assert found == [each for each in expected if each not in rest]
    file.close()


def test_an_empty_file_has_no_last_lines(tmp_path: Path) -> None:
    (tmp_path / "log").touch()
    file = LogFile(str(tmp_path / "log"))

    file.skip_to_last(1)

    assert (lines_of(file), file.take_rest()) == ([], b"")
    file.close()


def test_the_last_lines_of_a_long_file_are_found_from_its_end(tmp_path: Path) -> None:
    every = [b"%06d %b" % (number, b"x" * (number % 97)) for number in range(20_000)]
    (tmp_path / "log").write_bytes(b"\n".join(every) + b"\n")
    for tail in (1, 5_000, 19_999, 20_000, 20_001):
        file = LogFile(str(tmp_path / "log"))
        file.skip_to_last(tail)
        assert lines_of(file) == every[-tail:]
        file.close()


def test_a_line_is_read_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"one\ntw")
    file = LogFile(str(path))
    assert lines_of(file) == [b"one"]

    with path.open("ab") as more:
        more.write(b"o\n")
    assert lines_of(file) == [b"two"]
    file.close()
