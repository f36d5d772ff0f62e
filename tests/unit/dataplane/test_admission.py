import json
from typing import Any

import pytest

from kwokctl.dataplane.admission import find_guards, has_quota, read_guard
from kwokctl.kube.access import Access
from kwokctl.kube.http import Pool
from kwokctl.kube.resource import DEPLOYMENTS, NODES, PODS, Resource
from tests.support.fake_api_server import Reply, Request, serving


def webhook(*rules: tuple[list[str], list[str]]) -> bytes:
    listed = [{"apiGroups": groups, "resources": plurals} for groups, plurals in rules]
    return json.dumps({"metadata": {"name": "w"}, "webhooks": [{"rules": listed}]}).encode()


@pytest.mark.parametrize(
    ("groups", "plurals", "watched"),
    [
        ([""], ["pods"], {PODS}),
        ([""], ["pods/status"], {PODS}),
        (["*"], ["*"], {PODS, NODES, DEPLOYMENTS}),
        (["*"], ["*/*"], {PODS, NODES, DEPLOYMENTS}),
        (["apps"], ["*"], {DEPLOYMENTS}),
        (["batch"], ["pods"], set()),
    ],
)
def test_a_webhook_watches_over_what_its_rules_name(
    groups: list[str], plurals: list[str], watched: set[Resource]
) -> None:
    guard = read_guard("ValidatingWebhookConfiguration", webhook((groups, plurals)))

    assert {r for r in (PODS, NODES, DEPLOYMENTS) if guard.watches(r)} == watched


def test_a_policy_watches_over_its_constraints() -> None:
    rules = [{"apiGroups": [""], "resources": ["nodes"]}]
    body = {"metadata": {"name": "p"}, "spec": {"matchConstraints": {"resourceRules": rules}}}

    guard = read_guard("ValidatingAdmissionPolicy", json.dumps(body).encode())

    assert guard.watches(NODES)
    assert not guard.watches(PODS)
    assert guard.name == "ValidatingAdmissionPolicy 'p'"


async def serve(request: Request, reply: Reply) -> None:
    answers: dict[str, list[Any]] = {
        "mutatingwebhookconfigurations": [json.loads(webhook(([""], ["pods"])))],
        "resourcequotas": [{"metadata": {"name": "q"}}] if "/full/" in request.path else [],
        "validatingwebhookconfigurations": [],
    }
    items = answers.get(request.path.rpartition("/")[2])
    if items is None:
        await reply.send(b"{}", status=404)
    else:
        await reply.json({"metadata": {}, "items": items})


async def test_kinds_that_a_cluster_does_not_serve_are_no_guards() -> None:
    async with serving(serve) as server, Pool(Access(server=server.url)) as pool:
        (guard,) = await find_guards(pool)

    assert guard.name == "MutatingWebhookConfiguration 'w'"


async def test_a_quota_is_found_in_its_namespace() -> None:
    async with serving(serve) as server, Pool(Access(server=server.url)) as pool:
        assert await has_quota(pool, "full")
        assert not await has_quota(pool, "free")
