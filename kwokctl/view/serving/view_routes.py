"""The paths of a view: the address that is printed, the page, and the stream of what changes on it."""

from collections.abc import AsyncIterator, Callable

import msgspec

from kwokctl.embedded.http.messages import Answer, RefusedError, Request
from kwokctl.embedded.http.route_table import Route
from kwokctl.view.serving.view_gate import OPENING, ViewGate, ViewKeys, check_host

HTML = "text/html; charset=utf-8"
_EVENTS = "text/event-stream"
EVENTS = "events"
"""The name of the stream, beside the page."""
_ALWAYS = (
    ("Cache-Control", "no-store"),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
)
_NO_FRAMES = "frame-ancestors 'none'"
_NOTHING = f"default-src 'none'; base-uri 'none'; form-action 'none'; {_NO_FRAMES}"


class ServedPage(msgspec.Struct, frozen=True, kw_only=True):
    """The page as it is sent."""

    html: bytes
    policy: str
    """The sources that it may use, in the words of a Content-Security-Policy."""


Follow = Callable[[], AsyncIterator[bytes]]
"""Begins a stream of server-sent events; RefusedError if there are too many."""


def view_routes(keys: ViewKeys, gate: ViewGate, page: ServedPage, follow: Follow) -> list[Route]:
    """Return the routes of a view."""

    async def open_page(request: Request) -> Answer:
        check_host(request)
        gate.check_token(request.path.removeprefix(f"{OPENING}/"))
        # A redirection would go on in the name of the page that had the link: to that, a strict cookie is not sent.
        # The refresh of this page is its own request, and leaves the token out of the browser's history.
        refresh = f'<!doctype html><meta http-equiv="refresh" content="0;url={keys.page_path}">\n'
        headers = (
            *_ALWAYS,
            ("Content-Security-Policy", _NOTHING),
            ("Set-Cookie", keys.set_cookie),
        )
        return Answer(200, refresh.encode(), content_type=HTML, headers=headers)

    async def show_page(request: Request) -> Answer:
        if not request.path.endswith("/"):
            raise RefusedError(404, "not found")
        policy = f"{page.policy}; {_NO_FRAMES}"
        headers = (*_ALWAYS, ("Content-Security-Policy", policy))
        return Answer(200, page.html, content_type=HTML, headers=headers)

    async def send_events(_request: Request) -> Answer:
        return Answer(200, follow(), content_type=_EVENTS, headers=_ALWAYS)

    folder = keys.page_path.rstrip("/")
    return [
        Route(path=OPENING, is_tree=True, is_open=True, answer=open_page),
        Route(path=folder, answer=show_page),
        Route(path=f"{folder}/{EVENTS}", answer=send_events),
    ]
