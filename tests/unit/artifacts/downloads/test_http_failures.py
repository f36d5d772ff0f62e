import errno
import socket
import ssl
from contextlib import suppress
from pathlib import Path
from threading import Thread

import pytest
import requests

from kwokctl.artifacts.downloads.http_failures import Trouble, of_error, of_status
from tests.support.certificates import certificates
from tests.support.download_sites import download_sites


def _from(bottom: BaseException, kind: type[Exception] = requests.ConnectionError) -> Exception:
    """Return what requests raises, with what has really happened at the bottom of it."""
    top = kind("Max retries exceeded")
    middle = RuntimeError("pool")
    middle.__cause__ = bottom
    top.__context__ = middle
    return top


@pytest.mark.parametrize(
    ("bottom", "cause"),
    [
        (socket.gaierror(-2, "Name or service not known"), "cannot be reached (unknown host)"),
        (ConnectionRefusedError(), "cannot be reached (connection refused)"),
        (OSError(errno.ENETUNREACH, "Network is unreachable"), "(network is unreachable)"),
        (ssl.SSLCertVerificationError("self-signed"), "certificate is not trusted"),
    ],
)
def test_a_permanent_failure_is_not_retried_and_names_its_cause(
    bottom: BaseException, cause: str
) -> None:
    trouble = of_error("dl.k8s.io", _from(bottom))

    assert cause in str(trouble)
    assert str(trouble).startswith("dl.k8s.io ")
    assert trouble.unreachable
    assert not trouble.passing


def test_a_proxy_that_is_not_there_is_named_as_the_cause() -> None:
    trouble = of_error("dl.k8s.io", _from(ConnectionRefusedError(), requests.exceptions.ProxyError))

    assert str(trouble) == "dl.k8s.io cannot be reached through the proxy (connection refused)"
    assert not trouble.passing


def test_a_proxy_that_asks_for_a_password_says_where_it_goes(tmp_path: Path) -> None:
    with download_sites(tmp_path) as sites:
        sites.user, sites.password = "somebody", "secret"
        sites.site.faults["/kubectl"] = [407]
        tunnelled, plain = (
            _asked(f"{scheme}://192.0.2.1/kubectl", {scheme: sites.site.address})
            for scheme in ("https", "http")
        )

    assert tunnelled == plain
    assert not plain.passing
    assert str(plain) == (
        "dl.k8s.io cannot be reached through the proxy (it asks for a user and a password: "
        "HTTPS_PROXY=http://USER:PASSWORD@HOST:PORT)"
    )


def _asked(url: str, proxies: dict[str, str] | None = None) -> Trouble:
    try:
        with requests.get(url, proxies=proxies, timeout=20) as answer:
            return of_status("dl.k8s.io", answer.status_code, "kubectl")
    except requests.RequestException as e:
        return of_error("dl.k8s.io", e)


def test_a_site_that_is_not_trusted_is_no_reason_to_wait() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        Thread(target=_shake_hands, args=(server,), daemon=True).start()
        trouble = _asked(f"https://127.0.0.1:{server.getsockname()[1]}")

    assert str(trouble) == (
        "dl.k8s.io cannot be reached (its certificate is not trusted; SSL_CERT_FILE names a "
        "file of authorities)"
    )
    assert not trouble.passing


def _shake_hands(server: socket.socket) -> None:
    with server.accept()[0] as dialled, suppress(OSError):
        certificates().server_context().wrap_socket(dialled, server_side=True)


def test_a_proxy_that_refuses_is_no_reason_to_wait() -> None:
    refusal = OSError("Tunnel connection failed: 403 Forbidden")
    trouble = of_error("dl.k8s.io", _from(refusal, requests.exceptions.ProxyError))

    assert "403 Forbidden" in str(trouble)
    assert not trouble.passing


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (requests.exceptions.ConnectTimeout(), "cannot be reached (no answer)"),
        (requests.exceptions.ReadTimeout(), "has stopped answering"),
        (_from(TimeoutError()), "has stopped answering"),
        (_from(ConnectionResetError()), "closed the connection early"),
        (requests.exceptions.ChunkedEncodingError(), "closed the connection early"),
    ],
)
def test_what_may_pass_may_be_tried_again(error: Exception, cause: str) -> None:
    trouble = of_error("dl.k8s.io", error)

    assert cause in str(trouble)
    assert trouble.passing


def test_an_invalid_address_is_not_retried() -> None:
    trouble = of_error("", requests.exceptions.InvalidURL("no host"))

    assert "cannot be queried (no host)" in str(trouble)
    assert not trouble.passing


def test_a_file_that_is_not_there_will_not_come() -> None:
    trouble = of_status("dl.k8s.io", 404, "kubectl")

    assert str(trouble) == "dl.k8s.io has no 'kubectl' (404)"
    assert not trouble.passing


@pytest.mark.parametrize(
    ("status", "passing"), [(403, False), (408, True), (429, True), (500, True), (503, True)]
)
def test_only_the_servers_own_failures_and_limits_pass(status: int, passing: bool) -> None:
    assert of_status("dl.k8s.io", status, "kubectl").passing is passing
