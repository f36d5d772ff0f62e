"""Writes answers as HTTP/1.1 sends them: their heads, and bodies that are whole or come in pieces."""

from http import HTTPStatus

from kwokctl import __version__
from kwokctl.embedded.http.messages import Answer, RefusedError

_SERVER = f"kwokctl/{__version__}"
LAST_CHUNK = b"0\r\n\r\n"


def whole_answer(answer: Answer, body: bytes, *, with_body: bool, is_kept: bool) -> bytes:
    """Write an answer whose body is known; `is_kept` says whether the connection is."""
    head = _head(answer, f"Content-Length: {len(body)}", is_kept=is_kept)
    return head + body if with_body else head


def head_of_stream(answer: Answer, *, in_chunks: bool, is_kept: bool) -> bytes:
    """Write the head of an answer whose body comes in pieces.

    A client of HTTP/1.0 does not know chunks: its body ends with the connection.
    """
    framing = "Transfer-Encoding: chunked" if in_chunks else "Cache-Control: no-store"
    return _head(answer, framing, is_kept=is_kept)


def chunk_of(data: bytes) -> bytes:
    """Write a piece of a body."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def refusal_of(error: RefusedError) -> Answer:
    """Return the answer to what is refused."""
    headers = (("WWW-Authenticate", "Bearer"),) if error.status == 401 else ()
    return Answer(error.status, f"{error}\n".encode(), headers=headers)


def _head(answer: Answer, framing: str, *, is_kept: bool) -> bytes:
    lines = (
        f"HTTP/1.1 {answer.status} {HTTPStatus(answer.status).phrase}",
        f"Server: {_SERVER}",
        f"Content-Type: {answer.content_type}",
        framing,
        *(f"{name}: {value}" for name, value in answer.headers),
        f"Connection: {'keep-alive' if is_kept else 'close'}\r\n\r\n",
    )
    return "\r\n".join(lines).encode("latin-1")
