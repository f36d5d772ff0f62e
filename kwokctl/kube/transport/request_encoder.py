"""Encodes HTTP/1.1 requests to one server; what is the same in all of them is made once."""

from collections.abc import Iterator, Mapping
from urllib.parse import quote, urlsplit

from kwokctl.kube.kubeconfig.access import Access

JSON = "application/json"


class RequestEncoder:
    """The bytes of requests to the server of one access."""

    def __init__(self, access: Access, user_agent: str) -> None:
        """Requests carry the token or password of the access, if it has one."""
        parts = urlsplit(access.server)
        self._root = parts.path.rstrip("/")
        self._plain = f" HTTP/1.1\r\nHost: {parts.netloc}\r\nUser-Agent: {user_agent}\r\n"
        self._plain += "".join(_impersonation(access))
        self.authorize(access)

    def authorize(self, access: Access) -> None:
        """Carry the credential of `access` from now on."""
        self._fixed = self._plain
        if authorization := access.authorization:
            self._fixed += f"Authorization: {authorization}\r\n"

    def encode(
        self,
        method: str,
        path: str,
        *,
        body: bytes = b"",
        content_type: str = JSON,
        accept: str = JSON,
        headers: Mapping[str, str] | None = None,
    ) -> bytes:
        """Return a request with head and body; `path` is below that of the server's URL."""
        head = f"{method} {self._root}{path}{self._fixed}Accept: {accept}\r\n"
        if headers:
            head += "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        if body:
            head += f"Content-Type: {content_type}\r\nContent-Length: {len(body)}\r\n\r\n"
            return head.encode("ascii") + body
        if method not in ("GET", "HEAD"):
            head += "Content-Length: 0\r\n"
        return f"{head}\r\n".encode("ascii")


def header_value(text: str) -> str:
    """Return the name of a user or a group as the value of a header."""
    return quote(text, safe=":@/+=,. ")


def _impersonation(access: Access) -> Iterator[str]:
    """Yield the headers that say in whose place requests are sent."""
    if access.as_user:
        yield f"Impersonate-User: {header_value(access.as_user)}\r\n"
    for group in access.as_groups:
        yield f"Impersonate-Group: {header_value(group)}\r\n"
