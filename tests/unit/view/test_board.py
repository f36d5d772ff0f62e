"""What a page is sent: what it does not have yet, however late it takes that."""

import pytest

from kwokctl.embedded.http.messages import RefusedError
from kwokctl.measure.pages.page_data import FleetFrame, PageData, PageVerdict
from kwokctl.view.serving.board import MOST_STREAMS, Board, event_of
from tests.support.view_rig import table

PAGE = PageData(kind="live", title="x", verdict=PageVerdict(text=""))


def board() -> Board:
    return Board(lambda: PAGE)


def frame(number: int) -> FleetFrame:
    return FleetFrame(changes=((number, "!"),))


async def test_a_page_that_is_late_gets_the_last_state_only() -> None:
    found = board()
    stream = found.follow()
    await anext(stream)
    for number in range(5):
        found.put("pods", table(f"state {number}"))
    found.publish()
    assert await anext(stream) == event_of("item", table("state 4"))


async def test_a_page_that_is_little_late_gets_all_changes_of_the_map() -> None:
    found = board()
    found.put_patched("map", lambda: table("whole"))
    stream = found.follow()
    await anext(stream)
    for number in range(3):
        found.patch("map", frame(number))
    found.publish()
    assert await anext(stream) == b"".join(event_of("patch", frame(n)) for n in range(3))


async def test_a_page_that_is_too_late_for_changes_gets_the_whole_map() -> None:
    found = board()
    found.put_patched("map", lambda: table("whole"))
    stream = found.follow()
    await anext(stream)
    for number in range(1000):
        found.patch("map", frame(number))
    found.publish()
    assert await anext(stream) == event_of("item", table("whole"))
    found.patch("map", frame(7))
    found.publish()
    assert await anext(stream) == event_of("patch", frame(7))


async def test_another_map_replaces_the_changes_of_the_one_before() -> None:
    found = board()
    found.put_patched("map", lambda: table("before"))
    stream = found.follow()
    await anext(stream)
    found.patch("map", frame(1))
    found.put_patched("map", lambda: table("after"))
    found.publish()
    assert await anext(stream) == event_of("item", table("after"))


async def test_what_was_put_before_a_page_began_is_in_the_page_and_not_sent_again() -> None:
    found = board()
    found.put("pods", table("old"))
    stream = found.follow()
    assert event_of("page", PAGE) in await anext(stream)
    found.put("nodes", table("new", "nodes"))
    found.publish()
    assert await anext(stream) == event_of("item", table("new", "nodes"))


async def test_streams_are_counted_while_they_are_read() -> None:
    found = board()
    streams = [found.follow() for _ in range(MOST_STREAMS)]
    for each in streams:
        await anext(each)
    with pytest.raises(RefusedError, match="close one of them"):
        found.follow()
    await streams[0].aclose()  # type: ignore[attr-defined]  # it is a generator
    assert found.streams == MOST_STREAMS - 1


def test_names_cannot_end_an_event_nor_hide_or_reorder_text() -> None:
    said = event_of("item", table("a\n\nevent: page\r\ndata: {}\u2028\u202eevil\x7f\u200b"))
    assert said.count(b"\n") == 3
    assert said.endswith(b"\n\n")
    assert said.count(b"\r") == 0
    for hidden in ("\u2028", "\u202e", "\x7f", "\u200b"):
        assert hidden.encode() not in said
    assert "⟨U+202E⟩evil".encode() in said
