"""Decides who may see a view: the user who has its address, with a browser that was opened at it.

Every user of the machine can dial the port, and every web site can make the user's browser dial it. So:

- The address has a random token. It leads to a cookie that scripts cannot read and that other sites' requests do not carry.
- Browsers send cookies of 127.0.0.1 to all of its ports, also to servers of other users. The path of the page is random,
  and the cookie is for that path alone: no other user and no web site can make a browser ask for it.
- The Host header must name this machine: a name that an attacker's DNS leads here is refused.
- The Origin and Sec-Fetch-Site headers, where a browser sends them, must be those of the page itself. Pages at other ports of 127.0.0.1
  are of the same site, so that SameSite alone does not keep them out.
"""

import hmac
import secrets

import msgspec

from kwokctl.embedded.http.messages import RefusedError, Request

COOKIE = "kwokctl-view"
OPENING = "/open"
_SECRET_BYTES = 32
_NAMES = ("127.0.0.1", "localhost")
_OWN_SITES = ("same-origin", "none")
"""Of Sec-Fetch-Site: a request of the page, or one that the user made, such as by a bookmark."""


class ViewKeys(msgspec.Struct, frozen=True, kw_only=True):
    """The random texts of one view, of 256 bits each."""

    token: str
    """In the address that is printed."""
    session: str
    """In the cookie."""
    folder: str
    """The first part of the page's path."""

    @classmethod
    def new(cls) -> "ViewKeys":
        """Draw them."""
        token, session, folder = (secrets.token_urlsafe(_SECRET_BYTES) for _ in range(3))
        return cls(token=token, session=session, folder=folder)

    @property
    def opening_path(self) -> str:
        """The path that leads to the cookie and to the page."""
        return f"{OPENING}/{self.token}"

    @property
    def page_path(self) -> str:
        """The path of the page, with a slash at its end."""
        return f"/{self.folder}/"

    @property
    def set_cookie(self) -> str:
        """The value of the header that sets the cookie, until the browser ends."""
        return f"{COOKIE}={self.session}; Path={self.page_path}; HttpOnly; SameSite=Strict"


class ViewGate:
    """Admits the requests of one view."""

    def __init__(self, keys: ViewKeys) -> None:
        self._token = keys.token.encode()
        self._session = keys.session.encode()

    async def admit(self, request: Request, _certificate: object) -> None:
        """Raise RefusedError unless a request is one of the page, with its cookie."""
        check_host(request)
        _check_sender(request)
        if not any(_same(each, self._session) for each in _cookies(request)):
            raise RefusedError(401, "open the address that 'kwokctl view' has printed")

    def check_token(self, text: str) -> None:
        """Raise RefusedError unless a text is the token of the address."""
        if not _same(text, self._token):
            raise RefusedError(401, "open the address that 'kwokctl view' has printed")


def check_host(request: Request) -> None:
    """Raise RefusedError unless a request was sent to a name of this machine.

    The port may differ from ours, as with `ssh -L`.
    """
    hosts = request.all_headers("host")
    name, _, port = hosts[0].partition(":") if len(hosts) == 1 else ("", "", "")
    if name.lower() not in _NAMES or not (port == "" or (port.isascii() and port.isdigit())):
        raise RefusedError(421, "this server is 127.0.0.1 or localhost, and has no other name")


def _check_sender(request: Request) -> None:
    """Raise RefusedError for what another page makes the user's browser ask for."""
    own = f"http://{request.header('host')}"
    sites = request.all_headers("sec-fetch-site")
    if any(each != own for each in request.all_headers("origin")) or any(
        each not in _OWN_SITES for each in sites
    ):
        raise RefusedError(403, "only the page of the view itself may ask for this")


def _cookies(request: Request) -> list[str]:
    """Return the values of all cookies of our name."""
    pairs = (
        pair.strip().partition("=")
        for header in request.all_headers("cookie")
        for pair in header.split(";")
    )
    return [value for name, _, value in pairs if name == COOKIE]


def _same(text: str, secret: bytes) -> bool:
    """Compare in a time that does not tell how much of a text is right."""
    return hmac.compare_digest(text.encode("utf-8", "surrogatepass"), secret)
