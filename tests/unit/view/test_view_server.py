"""Who may see a view: only the user who has its address, with a browser that was opened at it."""

import asyncio
import re
import secrets
from contextlib import AsyncExitStack

import pytest

from kwokctl.embedded.http.client_limits import MOST_STRANGERS
from kwokctl.view.serving.board import MOST_STREAMS
from tests.support.eventually import eventually
from tests.support.view_rig import ServedView, event, served_view, table


async def test_the_address_leads_to_a_cookie_and_that_to_the_page() -> None:
    async with served_view() as view:
        status, opened = await view.ask(view.keys.opening_path)
        shown = await view.ask(view.keys.page_path, view.cookie)

    assert status == 200
    assert f"url={view.keys.page_path}" in opened
    cookie = re.search("Set-Cookie: (.+)\r", opened)
    assert cookie is not None
    assert cookie[1] == (
        f"kwokctl-view={view.keys.session}; Path={view.keys.page_path}; HttpOnly; SameSite=Strict"
    )
    assert shown[0] == 200
    assert shown[1].endswith("the page")


async def test_the_texts_of_a_view_cannot_be_guessed_and_differ() -> None:
    async with served_view() as one, served_view() as other:
        found = {
            each
            for view in (one, other)
            for each in (view.keys.token, view.keys.session, view.keys.folder)
        }

    assert len(found) == 6
    assert all(len(each) >= 43 for each in found)  # 256 bits in base64


async def test_no_answer_may_be_kept_framed_or_named_to_other_sites() -> None:
    async with served_view() as view:
        answers = [
            await view.ask(view.keys.opening_path),
            await view.ask(view.keys.page_path, view.cookie),
        ]

    for _, text in answers:
        assert "Cache-Control: no-store" in text
        assert "Referrer-Policy: no-referrer" in text
        assert "X-Content-Type-Options: nosniff" in text
        assert re.search(
            "Content-Security-Policy: default-src 'none'.*frame-ancestors 'none'", text
        )


def paths(view: ServedView) -> tuple[str, ...]:
    return view.keys.page_path, view.events_path, "/", "/nothing", "/open"


async def test_without_the_cookie_nothing_is_told_of_any_path() -> None:
    async with served_view() as view:
        for path in paths(view):
            status, text = await view.ask(path)
            assert (status, text.endswith("has printed\n")) == (401, True), path


@pytest.mark.parametrize(
    "value",
    ["", "x", "{folder}", "{token}", "{short}", "{long}", "{session};x", '"{session}"', "ü"],
)
async def test_another_cookie_is_none(value: str) -> None:
    async with served_view() as view:
        keys = view.keys
        words = {
            "folder": keys.folder, "token": keys.token, "session": keys.session,
            "short": keys.session[:-1], "long": f"{keys.session}x",
        }  # fmt: skip
        cookie = f"Cookie: kwokctl-view={value.format(**words)}"
        status, _ = await view.ask(keys.page_path, cookie)
        wrong_name = await view.ask(keys.page_path, f"Cookie: kwokctl-views={keys.session}")

    assert status == (200 if value == "{session};x" else 401)
    assert wrong_name[0] == 401


async def test_cookies_of_others_beside_it_do_not_matter() -> None:
    async with served_view() as view:
        beside = f"Cookie: a=b; kwokctl-view=old; {view.cookie.removeprefix('Cookie: ')}; c"
        assert (await view.ask(view.keys.page_path, beside))[0] == 200


async def test_a_wrong_token_gets_no_cookie() -> None:
    async with served_view() as view:
        right = view.keys.token
        for token in ("x", right[:-1], f"{right}/", f"{right}x", "%00", view.keys.session):
            status, text = await view.ask(f"/open/{token}")
            assert status == 401, token
            assert "Set-Cookie" not in text


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "[::1]", "0.0.0.0", ""],
)
async def test_a_name_that_leads_here_by_the_dns_of_others_is_refused(host: str) -> None:
    async with served_view() as view:
        for path in (view.keys.opening_path, *paths(view)):
            status, text = await view.ask(path, view.cookie, host=host)
            assert status == (400 if host == "" and status == 400 else 421), path
            assert "Set-Cookie" not in text


async def test_two_names_are_none() -> None:
    async with served_view() as view:
        status, _ = await view.ask(view.keys.page_path, view.cookie, "Host: evil.example")
    assert status in {400, 421}


async def test_a_port_that_is_forwarded_may_have_another_number() -> None:
    async with served_view() as view:
        lines = (f"GET {view.keys.page_path} HTTP/1.1", "Host: localhost:9", view.cookie)
        data = "\r\n".join((*lines, "Connection: close")).encode() + b"\r\n\r\n"
        assert (await view.send(data))[0] == 200


@pytest.mark.parametrize(
    "header",
    [
        "Origin: http://evil.example",
        "Origin: null",
        "Origin: http://127.0.0.1:1",
        "Origin: https://127.0.0.1:{port}",
        "Origin: http://localhost:{port}",
        "Sec-Fetch-Site: cross-site",
        "Sec-Fetch-Site: same-site",
    ],
)
async def test_other_pages_cannot_ask_in_the_name_of_the_user(header: str) -> None:
    async with served_view() as view:
        for path in paths(view):
            status, _ = await view.ask(path, view.cookie, header.format(port=view.port))
            assert status == 403, path


@pytest.mark.parametrize(
    "header",
    ["Origin: http://127.0.0.1:{port}", "Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: none"],
)
async def test_the_page_itself_can(header: str) -> None:
    async with served_view() as view:
        asked = header.format(port=view.port)
        assert (await view.ask(view.keys.page_path, view.cookie, asked))[0] == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
async def test_nothing_but_reading_is_served(method: str) -> None:
    async with served_view() as view:
        known = await view.ask(view.keys.page_path, view.cookie, method=method)
        stranger = await view.ask(view.keys.page_path, method=method)
        opening = await view.ask(view.keys.opening_path, method=method)

    assert (known[0], stranger[0], opening[0]) == (405, 401, 405)
    assert "Set-Cookie" not in opening[1]


async def test_other_paths_of_the_page_do_not_exist() -> None:
    async with served_view() as view:
        folder = view.keys.page_path
        for path in (folder.rstrip("/"), f"{folder}x", f"{folder}events/x", f"{folder}../", "/"):
            assert (await view.ask(path, view.cookie))[0] == 404, path


async def test_a_long_head_is_refused() -> None:
    async with served_view() as view:
        long = await view.ask(view.keys.page_path, f"X: {'x' * 20_000}")
        many = await view.ask(view.keys.page_path, *(["X: y"] * 200))

    assert (long[0], many[0]) == (431, 431)


async def test_hundreds_of_connections_of_strangers_do_not_keep_the_owner_out() -> None:
    async with served_view() as view, AsyncExitStack() as stack:
        for number in range(MOST_STRANGERS + 100):
            _, writer = await asyncio.open_connection("127.0.0.1", view.port)
            stack.callback(writer.close)
            writer.write(
                b"GET /" if number % 2 else f"GET /{secrets.token_hex(9)} HTTP/1.1\r\n".encode()
            )
        await eventually(lambda: view.server.connections > 0)
        assert (await view.ask(view.keys.page_path, view.cookie))[0] == 200
        async with view.following() as reader:
            assert (await event(reader)).startswith("page\n")
        assert view.server.connections <= MOST_STRANGERS + 50


async def test_changes_come_as_events_and_each_only_once() -> None:
    async with served_view() as view, view.following() as reader:
        assert '"title":"empty"' in await event(reader)
        view.board.put("pods", table("one"))
        view.board.publish()
        assert '"one"' in await event(reader)
        view.board.put("pods", table("one"))
        view.board.put("nodes", table("two", "nodes"))
        view.board.publish()
        second = await event(reader)

    assert '"two"' in second
    assert '"one"' not in second


def changed(view: ServedView) -> bool:
    """Send something: a client that has gone is noticed then."""
    view.board.put("pods", table(secrets.token_hex(4)))
    view.board.publish()
    return True


async def test_too_many_pages_are_refused_until_one_is_closed() -> None:
    async with served_view() as view, AsyncExitStack() as stack:
        for _ in range(MOST_STREAMS - 1):
            await stack.enter_async_context(view.following())
        async with view.following():
            await eventually(lambda: view.board.streams == MOST_STREAMS)
            status, text = await view.ask(view.events_path, view.cookie)
            assert (status, text.endswith("close one of them\n")) == (503, True)
        await eventually(lambda: changed(view) and view.board.streams < MOST_STREAMS)
        async with view.following() as reader:
            assert (await event(reader)).startswith("page\n")


async def test_a_head_of_the_stream_counts_for_no_page() -> None:
    async with served_view() as view:
        status, _ = await view.ask(view.events_path, view.cookie, method="HEAD")
        assert (status, view.board.streams) == (200, 0)
