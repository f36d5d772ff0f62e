"""Who a client is."""

import base64
import json
from typing import Any

import pytest

from kwokctl.api_proxy.client_identity import (
    ANONYMOUS,
    Tokens,
    UnfitNameError,
    certified_user,
)


def certificate(*names: str, groups: tuple[str, ...] = ()) -> dict[str, Any]:
    parts = [*(("organizationName", each) for each in groups), *(("commonName", n) for n in names)]
    return {"subject": tuple((each,) for each in parts)}


def test_a_certificate_names_a_user_and_groups() -> None:
    found = certified_user(certificate("bob", groups=("a", "b")))

    assert found is not None
    assert found.headers == b"X-Remote-User: bob\r\nX-Remote-Group: a\r\nX-Remote-Group: b\r\n"


def test_of_several_common_names_the_last_counts_as_for_the_api_server() -> None:
    found = certified_user(certificate("bob", "ann"))

    assert found is not None
    assert found.name == "ann"


@pytest.mark.parametrize("subject", [None, {}, {"subject": ()}, certificate(""), certificate()])
def test_without_a_name_there_is_no_user(subject: dict[str, Any] | None) -> None:
    assert certified_user(subject) is None


@pytest.mark.parametrize(
    "subject",
    [
        certificate("x\r\nX-Remote-Group: system:masters"),
        certificate("kwok-admin "),
        certificate("\tkwok-admin"),
        certificate("x", groups=("system:masters ",)),
        certificate("x", groups=("a\nX-Remote-User: root",)),
        certificate("x", groups=("",)),
        certificate("x\x00"),
    ],
)
def test_a_name_that_a_header_would_change_is_refused(subject: dict[str, Any]) -> None:
    with pytest.raises(UnfitNameError):
        certified_user(subject)


def jwt(payload: str) -> str:
    return "a." + base64.urlsafe_b64encode(payload.encode()).decode().rstrip("=") + ".c"


@pytest.mark.parametrize(
    ("words", "user"),
    [
        ((), ANONYMOUS),
        (("Bearer secret",), "system:kube-scheduler"),
        (("bearer secret",), "system:kube-scheduler"),
        (("Bearer secret more",), "system:kube-scheduler"),
        (("Bearer secret", "Bearer other"), "system:kube-scheduler"),
        (("Bearer  secret",), ""),  # the API server reads an empty token, and takes the client for anonymous
        (("Bearer other", "Bearer secret"), ""),
        (("Bearer other",), ""),
        (("Basic secret",), ""),
        ((f"Bearer {jwt(json.dumps({'sub': 'system:serviceaccount:a:b'}))}",), "system:serviceaccount:a:b"),
        ((f"Bearer {jwt('[]')}",), ""),
        (("Bearer a.%%%.c",), ""),
    ],
)  # fmt: skip
def test_a_token_names_its_user_for_faults(words: tuple[str, ...], user: str) -> None:
    assert Tokens({"secret": "system:kube-scheduler"}).user(words) == user
