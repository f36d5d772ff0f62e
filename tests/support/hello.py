"""A route that answers with the path that it was asked for."""

from kwokctl.embedded.http.messages import (
    Answer,
    Request,
)
from kwokctl.embedded.http.route_table import Route


async def hello(request: Request) -> Answer:
    return Answer(200, f"hello {request.path}".encode())


HELLO = Route(path="/hello", is_tree=True, answer=hello)
