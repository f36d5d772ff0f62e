from pathlib import Path

import pytest

from kwokctl.errors import ConfigError, UsageError
from kwokctl.kubelet.settings import KubeletSettings, read_kubelet_settings
from kwokctl.progress import Silent

ALWAYS = ("--manage-all-nodes", "--server-address", "127.0.0.1,172.18.0.1:10250")


def read(*flags: str) -> KubeletSettings:
    return read_kubelet_settings([*ALWAYS, *flags], Silent())


def test_nothing_more_than_an_address_is_needed() -> None:
    settings = read()

    assert (settings.hosts, settings.port) == (("127.0.0.1", "172.18.0.1"), 10250)
    assert settings.tls is None
    assert (settings.anonymous, settings.allow_all, settings.debugging) == (False, False, True)


def test_access_is_opened_by_the_kubelets_own_flags() -> None:
    settings = read(
        "--anonymous-auth=true",
        "--authorization-mode=AlwaysAllow",
        "--enable-debugging-handlers=false",
    )

    assert (settings.anonymous, settings.allow_all, settings.debugging) == (True, True, False)


def test_documents_are_read_from_files(tmp_path: Path) -> None:
    file = tmp_path / "logs.yaml"
    file.write_text("kind: Logs\nmetadata: {name: a}\nspec: {logs: []}\n")

    found = read("--config", str(file)).documents
    assert [each.name for each in found] == ["metrics-resource", "a"]


def test_kinds_of_custom_resources_come_with_commas_or_one_by_one() -> None:
    found = read("--enable-crds=Logs,Exec", "--enable-crds", "Metric").custom_kinds

    assert found == {"Logs", "Exec", "Metric"}
    assert not read().custom_kinds


def test_a_document_that_is_wrong_is_refused_at_once(tmp_path: Path) -> None:
    file = tmp_path / "usage.yaml"
    file.write_text("kind: Metric\nmetadata: {name: a}\nspec: {path: /here}\n")

    with pytest.raises(ConfigError, match="'/here' does not start with"):
        read("--config", str(file))


@pytest.mark.parametrize(
    ("flags", "problem"),
    [
        (("--tls-cert-file", "a"), "a certificate needs its key"),
        (("--authorization-mode", "Never"), "invalid choice"),
        (("--manage-single-node", "n"), "exclude each other"),
        (("--server-address", "here"), "not an address to serve"),
        (("--enable-crds", "Stage"), "'Stage' does not configure kubelet responses"),
    ],
)
def test_what_cannot_be_is_refused(flags: tuple[str, ...], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        read(*flags)
