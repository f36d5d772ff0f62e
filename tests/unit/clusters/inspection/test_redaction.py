from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kwokctl.clusters.inspection.redaction import Redactor, redactor, without_secrets
from kwokctl.host.paths import ClusterPaths

WEB_TOKEN = b"eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJrdWJlcm5ldGVzIn0.c2lnbmF0dXJlLWJ5dGVz"
KEY = b"-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("written", "exported"),
    [
        (b"asks with own-token\n", b"asks with REDACTED\n"),
        (b"Bearer " + WEB_TOKEN + b" came\n", b"Bearer REDACTED came\n"),
        (b"proxy http://me:pass@proxy:3128\n", b"proxy http://REDACTED@proxy:3128\n"),
        (b"mail of me@example.com\n", b"mail of me@example.com\n"),
        (KEY + b"\n", b"REDACTED\n"),
    ],
)
def test_what_is_or_looks_like_a_secret_is_replaced(written: bytes, exported: bytes) -> None:
    assert Redactor((b"own-token",)).text(written) == exported


def test_the_audit_log_keeps_who_touched_a_secret_and_not_what_is_in_it() -> None:
    event = (
        b'{"verb":"create","objectRef":{"resource":"secrets","name":"s"},'
        b'"requestObject":{"data":{"password":"c2VjcmV0"}}}\n'
    )
    other = b'{"verb":"get","objectRef":{"resource":"pods"},"responseObject":{"kind":"Pod"}}\n'
    half = b'{"objectRef":{"resource":"secrets"\n'
    assert Redactor(()).text(other + event + half) == (
        other + b'{"verb":"create","objectRef":{"resource":"secrets","name":"s"},'
        b'"requestObject":"REDACTED"}\n' + half
    )


async def test_a_secret_that_comes_in_two_parts_is_replaced() -> None:
    async def parts() -> AsyncIterator[bytes]:
        yield b"first\nwith own-"
        yield b"token in it\nlast own-token"

    found = [part async for part in Redactor((b"own-token",)).lines(parts())]
    assert b"".join(found) == b"first\nwith REDACTED in it\nlast REDACTED"


def test_the_tokens_of_a_cluster_are_known(tmp_path: Path) -> None:
    paths = ClusterPaths(tmp_path)
    paths.pki.mkdir()
    paths.tokens.write_text('first,admin,admin,"system:masters"\nsecond,etcd,etcd\n')
    paths.controller_token.write_text("third\n")
    assert set(redactor(paths).secrets) == {b"first", b"second", b"third"}


def test_a_document_keeps_names_and_loses_the_values_of_secrets() -> None:
    document = {
        "options": {"etcdBinary": "https://me:pw@example.com/etcd?sig=abc", "kubeVersion": "v1.36.3"},
        "components": [
            {
                "name": "web",
                "args": ["--token=abc", "--token-auth-file=/x", "--v=2"],
                "envs": [{"name": "DB_PASSWORD", "value": "x"}, {"name": "MODE", "value": "y"}],
            }
        ],
        "componentsPatches": [{"name": "web", "extraArgs": [{"key": "api-key", "value": "x"}]}],
    }  # fmt: skip
    assert without_secrets(document) == {
        "options": {
            "etcdBinary": "https://REDACTED@example.com/etcd?REDACTED",
            "kubeVersion": "v1.36.3",
        },
        "components": [
            {
                "name": "web",
                "args": ["--token=REDACTED", "--token-auth-file=/x", "--v=2"],
                "envs": [
                    {"name": "DB_PASSWORD", "value": "REDACTED"},
                    {"name": "MODE", "value": "y"},
                ],
            }
        ],
        "componentsPatches": [
            {"name": "web", "extraArgs": [{"key": "api-key", "value": "REDACTED"}]}
        ],
    }
