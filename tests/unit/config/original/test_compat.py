from collections.abc import Mapping

import pytest

from kwokctl.components.catalog import usual_options
from kwokctl.config.declaring import OptionValue
from kwokctl.config.documents import Document
from kwokctl.config.options import ClusterOptions
from kwokctl.config.original import compat
from kwokctl.config.resolve import resolve_options
from kwokctl.host.ports import ANY
from tests.support.options import option

THEIRS = {
    "bind_address": ANY,
    "data_path": "api",
    "disable_qps_limits": False,
    "etcd_tls": False,
    "go_gc": 100,
    "managed_fields": "on",
    "metrics_server_resolution": 15,
    "node_heartbeat": "stretched",
    "runtimes": ("docker", "podman", "nerdctl", "binary"),
}


def resolved(
    flags: Mapping[str, OptionValue] = {}, environ: Mapping[str, str] = {}, **given: object
) -> ClusterOptions:
    body = {"kind": "KwokctlConfiguration", "options": given}
    document = Document(
        kind="KwokctlConfiguration", api_version="", name="", body=body, source="kwok.yaml"
    )
    return resolve_options(usual_options(), flags, environ, [document]).options


@pytest.mark.parametrize(
    "options",
    [
        resolved({"compat": "kwokctl"}),
        resolved(environ={"KWOK_COMPAT": "kwokctl"}),
        resolved(compat="kwokctl"),
    ],
    ids=["flag", "variable", "document"],
)
def test_every_default_that_differs_is_the_originals(options: ClusterOptions) -> None:
    assert {name: option(options, name) for name in THEIRS} == THEIRS


def test_without_it_the_defaults_are_ours() -> None:
    assert resolved() == usual_options()


def test_versions_and_components_stay_ours() -> None:
    options = resolved({"compat": "kwokctl"})

    assert options.kube_version == usual_options().kube_version
    assert options.selection == usual_options().selection


def test_what_is_given_anywhere_wins_over_the_originals_default() -> None:
    options = resolved({"compat": "kwokctl", "etcd_tls": "true"}, bindAddress="192.0.2.1")

    assert option(options, "etcd_tls") is True
    assert option(options, "bind_address") == "192.0.2.1"
    assert option(options, "go_gc") == 100


@pytest.mark.parametrize(
    ("words", "environ", "expected"),
    [
        (["get", "clusters"], {}, False),
        (["get", "clusters"], {"KWOK_COMPAT": "kwokctl"}, True),
        (["--compat", "kwokctl"], {}, True),
        (["--compat=kwokctl"], {}, True),
        (["--compat", "other"], {"KWOK_COMPAT": "kwokctl"}, False),
        (["--compat"], {}, False),
    ],
)
def test_it_is_recognised_in_words_that_are_not_understood(
    words: list[str], environ: dict[str, str], expected: bool
) -> None:
    assert compat.is_asked_for(words, environ) is expected
