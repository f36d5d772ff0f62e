import asyncio
from pathlib import Path

import pytest

from kwokctl.kube.transport.probe import probe, repeated
from kwokctl.model import HttpProbe
from tests.support.certificates import Certificates, certificates
from tests.support.fake_api_server import Reply, Request, serving


async def _by_path(request: Request, reply: Reply) -> None:
    if request.path == "/cut":
        reply.cut()
    else:
        await reply.send(b"ok", status=int(request.path[1:]))


def _files(folder: Path, known: Certificates) -> tuple[Path, Path, Path]:
    paths = (folder / "ca.crt", folder / "me.crt", folder / "me.key")
    for path, content in zip(paths, (known.ca, known.client.cert, known.client.key), strict=True):
        path.write_bytes(content)
    return paths


@pytest.mark.parametrize(
    ("path", "holds"), [("/200", True), ("/500", False), ("/403", False), ("/cut", False)]
)
async def test_it_holds_when_the_answer_is_200(path: str, holds: bool) -> None:
    async with serving(_by_path) as server:
        assert await probe(HttpProbe(url=f"{server.url}{path}")) is holds


async def test_the_query_is_sent(tmp_path: Path) -> None:
    async with serving(_by_path) as server:
        assert await probe(HttpProbe(url=f"{server.url}/200?verbose=1"))
    assert server.requests[0].query == {"verbose": "1"}


async def test_the_probe_sends_its_certificate_and_verifies_the_server(tmp_path: Path) -> None:
    known = certificates()
    ca, cert, key = _files(tmp_path, known)
    async with serving(_by_path, context=known.server_context(demand_client=True)) as server:
        url = f"{server.url}/200"
        assert await probe(HttpProbe(url=url, ca=ca, cert=cert, key=key))
        assert not await probe(HttpProbe(url=url, ca=ca))
        ca.write_bytes(certificates("other").ca)
        other = tmp_path / "other.crt"
        other.write_bytes(certificates("other").ca)
        assert not await probe(HttpProbe(url=url, ca=other, cert=cert, key=key))


async def test_renewed_certificates_are_read_again(tmp_path: Path) -> None:
    old, new = certificates("old"), certificates("new")
    ca, cert, key = _files(tmp_path, old)
    async with serving(_by_path, context=new.server_context(demand_client=True)) as server:
        asked = HttpProbe(url=f"{server.url}/200", ca=ca, cert=cert, key=key)
        assert not await probe(asked)
        _files(tmp_path, new)
        assert await probe(asked)


async def test_a_unix_socket_is_dialled_if_there_is_one(tmp_path: Path) -> None:
    path = tmp_path / "s"
    async with serving(_by_path, socket=path):
        assert await probe(HttpProbe(url="http://localhost/200", socket=path))
    assert not await probe(HttpProbe(url="http://localhost/200", socket=path))


@pytest.mark.parametrize("url", ["https://127.0.0.1:1/", "http://[", "nonsense", "http://x:99999/"])
async def test_a_probe_fails_on_any_error(url: str, tmp_path: Path) -> None:
    assert not await probe(HttpProbe(url=url, ca=tmp_path / "absent"))


async def test_it_can_be_cancelled() -> None:
    async def never(request: Request, reply: Reply) -> None:
        await asyncio.Event().wait()

    async with serving(never) as server:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await probe(HttpProbe(url=server.url))


async def test_a_probe_is_repeated_on_one_connection_until_that_ends() -> None:
    async def handle(request: Request, reply: Reply) -> None:
        await reply.send(b"", status=200 if len(server.requests) > 2 else 503)

    async with serving(handle) as server, repeated(HttpProbe(url=server.url)) as holds:
        assert not await holds()
        assert not await holds()
        assert await holds()
        assert len({each.connection for each in server.requests}) == 1

        server.drop_all()
        async with asyncio.timeout(30):
            while not await holds():
                await asyncio.sleep(0)
        assert len({each.connection for each in server.requests}) == 2


async def test_a_repeated_probe_finds_a_server_that_begins_later(tmp_path: Path) -> None:
    path = tmp_path / "s"
    async with repeated(HttpProbe(url="http://localhost/200", socket=path)) as holds:
        assert not await holds()
        async with serving(_by_path, socket=path):
            assert await holds()
