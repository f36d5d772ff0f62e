import asyncio
import fcntl
from pathlib import Path

from kwokctl.host import logfiles
from tests.support.full_disk import full_disk


async def whole(path: Path) -> bytes:
    return b"".join([part async for part in logfiles.read(path, follow=False)])


async def test_a_log_that_has_grown_is_cut_and_read_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    for number in range(logfiles.KEPT + 2):
        with path.open("a") as file:
            file.write(f"{number}\n")
        logfiles.rotate(path, limit=1)

    assert await whole(path) == b"2\n3\n4\n"
    assert path.stat().st_size == 0


async def test_a_program_continues_to_append_after_the_cut(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    with path.open("a") as program:
        program.write("before\n")
        program.flush()
        logfiles.rotate(path, limit=1)
        program.write("after\n")
        program.flush()

    assert path.read_text() == "after\n"
    assert await whole(path) == b"before\nafter\n"


async def test_on_a_full_disk_a_log_stays_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    for text in ("1\n", "2\n"):
        with path.open("a") as file:
            file.write(text)
        logfiles.rotate(path, limit=1)
    with path.open("a") as file:
        file.write("3\n")

    with full_disk():
        logfiles.rotate(path, limit=1)
        logfiles.rotate(path, limit=1)

    assert await whole(path) == b"1\n2\n3\n"
    assert {f.name for f in tmp_path.iterdir()} == {"a.log", "a.log.1", "a.log.2"}


async def test_a_short_log_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_text("short\n")

    logfiles.rotate(path)

    assert logfiles.parts(path) == [path]


async def test_there_is_nothing_to_read_of_what_never_wrote(tmp_path: Path) -> None:
    logfiles.rotate(tmp_path / "a.log")

    assert await whole(tmp_path / "a.log") == b""


async def test_following_continues_over_growth_and_cut(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_text("one\n")
    seen = b""

    async with asyncio.timeout(30):
        async for part in logfiles.read(path, follow=True):
            seen += part
            if seen == b"one\n":
                with path.open("a") as file:
                    file.write("two\n")
            elif seen == b"one\ntwo\n":
                logfiles.rotate(path, limit=1)
                path.write_text("3\n")
            else:
                break

    assert seen == b"one\ntwo\n3\n"


def test_a_mark_separates_the_runs_of_a_program(tmp_path: Path) -> None:
    path = tmp_path / "logs" / "a.log"

    logfiles.mark(path, "started by kwokctl")

    assert path.read_text().endswith("Z started by kwokctl ===\n")


async def test_what_was_cut_before_it_was_read_is_followed_in_the_older_part(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.log"
    path.write_text("one\n")
    seen = b""

    async with asyncio.timeout(30):
        async for part in logfiles.read(path, follow=True):
            if not seen:
                with path.open("a") as file:
                    file.write("two\n")
                logfiles.rotate(path, limit=1)
            seen += part
            if seen == b"one\ntwo\n":
                break

    assert await whole(path) == seen


async def test_what_another_has_emptied_is_followed_from_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_text("an older part, which is longer\n")
    logfiles.rotate(path, limit=1)
    path.write_text("one\n")
    seen = b""

    async with asyncio.timeout(30):
        async for part in logfiles.read(path, follow=True):
            seen += part
            if not part:
                path.write_text("2\n")
            if seen.endswith(b"2\n"):
                break

    assert seen == b"an older part, which is longer\none\n2\n"


async def test_what_is_cut_while_older_parts_are_read_is_read_once(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    for text in ("1\n", "2\n"):
        path.write_text(text)
        logfiles.rotate(path, limit=1)
    path.write_text("3\n")
    seen: list[bytes] = []

    async for part in logfiles.read(path, follow=False):
        if not seen:
            logfiles.rotate(path, limit=1)
            path.write_text("4\n")
        seen.append(part)

    assert seen == [b"1\n", b"2\n", b"3\n", b"4\n"]


async def test_an_empty_chunk_divides_what_was_there_from_what_comes(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_text("one\n")
    seen = []

    async with asyncio.timeout(30):
        async for part in logfiles.read(path, follow=True):
            seen.append(part)
            if not part:
                path.write_text("one\ntwo\n")
            if part == b"two\n":
                break

    assert seen == [b"one\n", b"", b"two\n"]


def test_a_log_is_rotated_by_one_command_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_text("one\n")

    with path.open("r+b") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        logfiles.rotate(path, limit=1)

    assert logfiles.parts(path) == [path]


def test_the_tail_is_the_last_lines_however_long_the_log_is(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    assert logfiles.tail(path) == ""

    path.write_text("x" * 200_000 + "\nlast but one\nlast\n")

    assert logfiles.tail(path, 2) == "last but one\nlast"
