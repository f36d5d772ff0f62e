"""An etcd that is not of a cluster is reached by its address, with certificates or without."""

from pathlib import Path

import pytest

from kwokctl.clusters.direct_etcd.access import EtcdLogin, other_objects
from kwokctl.errors import EtcdGoneError, UnavailableError, UsageError
from tests.support.ports import free_port


def _login(*endpoints: str, ca: Path | None = None) -> EtcdLogin:
    return EtcdLogin(endpoints=endpoints, ca=ca, patience=0.2)


async def _open(login: EtcdLogin) -> None:
    async with other_objects(login, "/registry"):
        raise AssertionError("nothing answers")


async def test_a_secure_address_needs_an_authority() -> None:
    with pytest.raises(UsageError, match="'--cacert' is needed"):
        await _open(_login("https://127.0.0.1:1"))


async def test_an_authority_means_a_secure_connection(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match="cannot be read"):
        await _open(_login(f"127.0.0.1:{free_port()}", ca=tmp_path / "none"))


async def test_every_address_is_tried_and_the_first_failure_is_reported() -> None:
    one, other = free_port(), free_port()

    with pytest.raises(EtcdGoneError, match=f"127.0.0.1:{one}"):
        await _open(_login(f"http://127.0.0.1:{one}", f"127.0.0.1:{other}"))
