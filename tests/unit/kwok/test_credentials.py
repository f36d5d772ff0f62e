from pathlib import Path

from kwokctl.embedded.http.listening import server_tls
from kwokctl.kwok.credentials import own_certificate


def test_a_certificate_is_made_beside_the_authority_of_clients(tmp_path: Path) -> None:
    authority = tmp_path / "clients.crt"
    authority.write_bytes(b"")

    made = own_certificate(tmp_path, authority)

    assert made.client_ca == authority
    server_tls(made.certificate, made.key, None)
