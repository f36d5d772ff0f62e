"""Objects are applied in an order that the API server accepts, and again while it is not ready for them."""

from collections.abc import Mapping
from typing import Any

import pytest

from kwokctl.clusters.objects.apply import apply_all
from kwokctl.clusters.objects.kinds import KindFinder
from kwokctl.errors import ApiError, NotFoundError
from kwokctl.kube.client import Client
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.transport.pool import Pool
from tests.support.fake_api_server import Reply, Request, serving

KINDS = {
    "/api/v1": [("namespaces", "Namespace", False), ("pods", "Pod", True)],
    "/apis/apiextensions.k8s.io/v1": [
        ("customresourcedefinitions", "CustomResourceDefinition", False)
    ],
    "/apis/admissionregistration.k8s.io/v1": [
        ("validatingwebhookconfigurations", "ValidatingWebhookConfiguration", False)
    ],
    "/apis/example.com/v1": [("widgets", "Widget", True)],
}


class ApplyServer:
    """Accepts everything, except what it is to refuse first."""

    def __init__(self) -> None:
        self.written: list[str] = []
        self.refusals: dict[str, list[tuple[int, str]]] = {}
        self.served_after = 2
        """How often the collection of a new kind is missing."""
        self.listed_after = 0
        """How often its group is missing in the list of groups, once the collection answers."""

    async def __call__(self, request: Request, reply: Reply) -> None:
        if request.method == "GET":
            await self._look(request, reply)
            return
        name = request.path.rpartition("/")[2]
        if waiting := self.refusals.get(name):
            status, message = waiting.pop(0)
            await reply.refuse(status, "Forbidden", message)
            return
        self.written.append(f"{request.method} {request.path}")
        await reply.send(request.body)

    async def _look(self, request: Request, reply: Reply) -> None:
        if request.path == "/apis":
            versions = [path.removeprefix("/apis/") for path in KINDS if path != "/api/v1"]
            if self.listed_after and "seen /apis/example.com/v1/widgets" in self.written:
                self.listed_after -= 1
                versions.remove("example.com/v1")
            groups = [
                {"preferredVersion": {"groupVersion": each}, "versions": [{"groupVersion": each}]}
                for each in versions
            ]
            await reply.json({"groups": groups})
        elif kinds := KINDS.get(request.path):
            found = [
                {"name": plural, "kind": kind, "namespaced": namespaced, "shortNames": ["wd"]}
                if kind == "Widget"
                else {"name": plural, "kind": kind, "namespaced": namespaced}
                for plural, kind, namespaced in kinds
            ]
            await reply.json({"resources": found})
        elif self.served_after:
            self.served_after -= 1
            await reply.refuse(404, "NotFound", "not yet")
        else:
            self.written.append(f"seen {request.path}")
            await reply.json({"items": []})


def _object(kind: str, version: str = "v1", name: str = "a", **more: Any) -> dict[str, Any]:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name}, **more}


async def _applied(server: ApplyServer, *objects: Mapping[str, Any]) -> list[dict[str, Any]]:
    async with serving(server) as fake, Pool(Access(server=fake.url)) as pool:
        return await apply_all(Client(pool), objects, namespace="mine")


async def test_kinds_and_namespaces_come_first_and_webhooks_last() -> None:
    server = ApplyServer()
    names = {"plural": "widgets"}
    versions = [{"name": "v1", "served": True}, {"name": "v0", "served": False}]
    spec = {"group": "example.com", "names": names, "versions": versions}
    hook = _object("ValidatingWebhookConfiguration", "admissionregistration.k8s.io/v1")
    widget = _object("Widget", "example.com/v1")
    made = _object("CustomResourceDefinition", "apiextensions.k8s.io/v1", spec=spec)

    stored = await _applied(server, hook, _object("Pod"), widget, _object("Namespace"), made)

    definition, seen, namespace, *between, last = server.written
    assert definition.endswith("/customresourcedefinitions/a")
    assert seen == "seen /apis/example.com/v1/widgets"
    assert namespace == "PATCH /api/v1/namespaces/a"
    assert sorted(between) == [
        "PATCH /api/v1/namespaces/mine/pods/a",
        "PATCH /apis/example.com/v1/namespaces/mine/widgets/a",
    ]
    assert last.endswith("/validatingwebhookconfigurations/a")
    assert [each["kind"] for each in stored][1] == "Pod"


async def test_a_new_kind_is_waited_for_until_programs_find_it() -> None:
    server = ApplyServer()
    server.listed_after = 3
    spec = {
        "group": "example.com",
        "names": {"plural": "widgets"},
        "versions": [{"name": "v1", "served": True}],
    }

    await _applied(
        server, _object("CustomResourceDefinition", "apiextensions.k8s.io/v1", spec=spec)
    )

    assert server.listed_after == 0


async def test_the_api_server_may_make_a_name() -> None:
    server = ApplyServer()

    await _applied(server, _object("Pod") | {"metadata": {"generateName": "a-"}})

    assert server.written == ["POST /api/v1/namespaces/mine/pods"]


async def test_a_pod_waits_for_the_account_of_a_new_namespace() -> None:
    server = ApplyServer()
    server.refusals["a"] = [(403, "error looking up service account mine/default: not found")]

    await _applied(server, _object("Pod"))

    assert server.written == ["PATCH /api/v1/namespaces/mine/pods/a"]


async def test_what_is_refused_is_raised() -> None:
    server = ApplyServer()
    server.refusals["a"] = [(403, "no right to it")]

    with pytest.raises(ApiError, match="no right to it"):
        await _applied(server, _object("Pod"))


@pytest.mark.parametrize("word", ["widgets", "Widget", "wd", "widgets.example.com"])
async def test_a_kind_has_the_words_that_kubectl_knows(word: str) -> None:
    async with serving(ApplyServer()) as fake, Pool(Access(server=fake.url)) as pool:
        found = await KindFinder(Client(pool)).find(word)

    assert found.path() == "/apis/example.com/v1/widgets"


async def test_a_kind_that_there_is_not_is_named() -> None:
    async with serving(ApplyServer()) as fake, Pool(Access(server=fake.url)) as pool:
        finder = KindFinder(Client(pool))
        with pytest.raises(NotFoundError, match="has no kind 'gadgets'"):
            await finder.find("gadgets")
