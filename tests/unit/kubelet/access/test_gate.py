import pytest

from kwokctl.embedded.http.messages import RefusedError, Request
from kwokctl.kubelet.access.gate import Gate, node_of, subresources, verb
from tests.support.kubelet_rig import FakeFleet, FakeReviewer, pod

LOGS = "/containerLogs/default/app/c"
ADMIN = {"subject": ((("organizationName", "system:masters"),), (("commonName", "admin"),))}


def gate(reviewer: FakeReviewer, *, anonymous: bool = False, allow_all: bool = False) -> Gate:
    return Gate(
        reviewer, node_of(FakeFleet(pod(node="n1"))), anonymous=anonymous, allow_all=allow_all
    )


def request(path: str = LOGS, token: str = "", method: str = "GET") -> Request:
    headers = (("authorization", f"Bearer {token}"),) if token else ()
    return Request(method=method, path=path, headers=headers)


async def refused(asked: Gate, what: Request) -> int:
    with pytest.raises(RefusedError) as caught:
        await asked.admit(what, None)
    return caught.value.status


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/stats/summary", ("stats",)),
        ("/metrics", ("metrics",)),
        ("/metrics/nodes/n/metrics/resource", ("metrics",)),
        ("/metrics/nodes/n/dcgm", ("metrics",)),
        ("/metricsfoo", ("proxy",)),
        ("/logs/kubelet.log", ("log",)),
        ("/checkpoint/a/b/c", ("checkpoint",)),
        ("/statusz", ("statusz",)),
        ("/pods", ("pods", "proxy")),
        ("/runningpods/", ("pods", "proxy")),
        ("/healthz/ping", ("healthz", "proxy")),
        ("/configz", ("configz", "proxy")),
        ("/flagz", ("configz",)),
        (LOGS, ("proxy",)),
        ("/exec/a/b/c", ("proxy",)),
        ("/", ("proxy",)),
    ],
)
def test_the_rights_are_those_of_kubelets(path: str, expected: tuple[str, ...]) -> None:
    assert subresources(path) == expected


def test_the_verb_follows_from_the_method() -> None:
    methods = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "BREW")

    assert [verb(each) for each in methods] == [
        "get", "get", "create", "update", "patch", "delete", "",
    ]  # fmt: skip


async def test_without_a_credential_or_with_a_worthless_one_nobody_passes() -> None:
    reviewer = FakeReviewer(tokens={"good": "eve"})

    assert await refused(gate(reviewer), request()) == 401
    assert await refused(gate(reviewer), request(token="bad")) == 401
    assert await refused(gate(reviewer, allow_all=True), request()) == 401
    assert (
        await refused(gate(reviewer, anonymous=True, allow_all=True), request(token="bad")) == 401
    )
    assert not reviewer.asked


async def test_a_user_without_the_right_does_not_pass() -> None:
    reviewer = FakeReviewer(tokens={"good": "eve"}, rights=frozenset({("eve", "metrics", "")}))

    assert await refused(gate(reviewer), request(token="good")) == 403
    assert [(each.verb, each.subresource, each.node) for each in reviewer.asked] == [
        ("get", "proxy", ""),
        ("get", "proxy", "n1"),
    ]


async def test_the_right_to_all_nodes_is_asked_for_once() -> None:
    reviewer = FakeReviewer(rights=frozenset({("admin", "proxy", "")}))

    await gate(reviewer).admit(request(method="POST"), ADMIN)

    assert [(each.verb, each.node) for each in reviewer.asked] == [("create", "")]


async def test_the_right_to_the_pods_node_is_enough() -> None:
    rights = frozenset({("eve", "proxy", "n1"), ("eve", "metrics", "n2")})
    asked = gate(FakeReviewer(tokens={"good": "eve"}, rights=rights))

    await asked.admit(request(token="good"), None)
    await asked.admit(request("/metrics/nodes/n2/metrics/resource", "good"), None)
    assert await refused(asked, request("/metrics/nodes/n1/metrics/resource", "good")) == 403
    assert await refused(asked, request("/containerLogs/default/other/c", "good")) == 403


async def test_a_finer_right_and_the_older_one_both_count() -> None:
    for right in ("pods", "proxy"):
        reviewer = FakeReviewer({"good": "eve"}, frozenset({("eve", right, "")}))
        await gate(reviewer).admit(request("/pods", "good"), None)


async def test_authorization_may_be_switched_off() -> None:
    reviewer = FakeReviewer(tokens={"good": "eve"})

    await gate(reviewer, anonymous=True, allow_all=True).admit(request(), None)
    await gate(reviewer, allow_all=True).admit(request(token="good"), None)


async def test_an_anonymous_client_has_the_rights_of_its_user() -> None:
    reviewer = FakeReviewer(rights=frozenset({("system:anonymous", "metrics", "")}))

    await gate(reviewer, anonymous=True).admit(request("/metrics"), None)
    assert await refused(gate(reviewer, anonymous=True), request()) == 403


async def test_a_certificate_without_a_name_is_nobodys() -> None:
    nameless = {"subject": ((("organizationName", "system:masters"),),)}

    with pytest.raises(RefusedError) as caught:
        await gate(FakeReviewer()).admit(request(), nameless)
    assert caught.value.status == 401
