""""""

import json

import pytest

from kwokctl.kube.transport.refusals import MissingRight, missing_right, refusal


def refused(message: str) -> bytes:
    return json.dumps({"message": message, "reason": "Forbidden", "code": 403}).encode()


@pytest.mark.parametrize(
    ("words", "right"),
    [
        ('list resource "pods" in API group "" at the cluster scope', ("list", "pods")),
        (
            'patch resource "pods/status" in API group "" in the namespace "a"',
            ("patch", "pods/status"),
        ),
        (
            'update resource "leases" in API group "coordination.k8s.io" in the namespace "a"',
            ("update", "leases.coordination.k8s.io"),
        ),
        (
            'patch resource "widgets/status" in API group "example.com" at the cluster scope',
            ("patch", "widgets.example.com/status"),
        ),
    ],
)
def test_a_missing_right_is_named_with_its_remedy(words: str, right: tuple[str, str]) -> None:
    error = refusal(
        403, refused(f'x is forbidden: User "system:serviceaccount:a:b" cannot {words}')
    )

    verb, resource = right
    assert missing_right(error) == MissingRight("system:serviceaccount:a:b", verb, resource)
    assert error.hint is not None
    assert f"--verb={verb} --resource={resource}'" in error.hint


def test_what_admission_refuses_is_no_missing_right() -> None:
    error = refusal(403, refused('pods "a" is forbidden: exceeded quota: small'))

    assert missing_right(error) is None
    assert error.hint is None
