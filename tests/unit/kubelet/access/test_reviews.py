import json
from typing import Any

from kwokctl.kube.client import Client
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.transport.pool import Pool
from kwokctl.kubelet.access.reviews import ClientIdentity, NodeAccess, Reviews
from tests.support.fake_api_server import Reply, Request, serving

EVE = ClientIdentity(username="eve", uid="7", groups=("g",), extra=(("scopes", ("a",)),))


class Judge:
    """An API server that knows one token, and allows one thing."""

    def __init__(self) -> None:
        self.specs: list[dict[str, Any]] = []

    async def __call__(self, request: Request, reply: Reply) -> None:
        spec = json.loads(request.body)["spec"]
        self.specs.append(spec)
        if request.path.endswith("tokenreviews"):
            user = {"username": "eve", "uid": "7", "groups": ["g"], "extra": {"scopes": ["a"]}}
            known = spec["token"] == "good"
            await reply.json({"status": {"authenticated": known, "user": user if known else {}}})
        else:
            allowed = spec["resourceAttributes"]["subresource"] == "metrics"
            await reply.json({"status": {"allowed": allowed}})


async def test_the_api_server_says_who_holds_a_token_once_in_a_while() -> None:
    judge, now = Judge(), [0.0]
    async with serving(judge) as at, Pool(Access(server=at.url)) as pool:
        reviews = Reviews(Client(pool), lambda: now[0])
        found = [await reviews.holder("good") for _ in range(3)]
        assert await reviews.holder("bad") is None
        assert len(judge.specs) == 2
        now[0] = 121.0
        await reviews.holder("good")

    assert len(judge.specs) == 3
    assert found[0] == ClientIdentity(
        username="eve", uid="7", groups=("g", "system:authenticated"), extra=(("scopes", ("a",)),)
    )


async def test_the_api_server_says_what_somebody_may_do() -> None:
    judge, now = Judge(), [0.0]
    allowed = NodeAccess(verb="get", subresource="metrics", node="n")
    denied = NodeAccess(verb="create", subresource="proxy")
    async with serving(judge) as at, Pool(Access(server=at.url)) as pool:
        reviews = Reviews(Client(pool), lambda: now[0])
        for now[0] in (0.0, 29.0, 31.0, 299.0):
            assert await reviews.allows(EVE, allowed)
            assert not await reviews.allows(EVE, denied)

    attributes = [spec["resourceAttributes"] for spec in judge.specs]
    assert attributes[0] == {
        "verb": "get",
        "version": "v1",
        "resource": "nodes",
        "subresource": "metrics",
        "name": "n",
    }
    assert "name" not in attributes[1]
    assert [each["subresource"] for each in attributes] == ["metrics", "proxy", "proxy", "proxy"]
    assert judge.specs[0]["user"] == "eve"
    assert judge.specs[0]["groups"] == ["g"]
    assert judge.specs[0]["extra"] == {"scopes": ["a"]}
