import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from kwokctl.components.catalog import usual_options
from kwokctl.config.config_documents import Document
from kwokctl.config.declaring import OptionValue, Spelling
from kwokctl.config.options import ClusterOptions, spellings, value_of
from kwokctl.config.original import compat
from kwokctl.config.resolve import resolve_options
from tests.support.options import option
from tests.support.original_kwokctl import DEFAULTS, KEYS

SPELLINGS = spellings(usual_options())

_VERSIONS = "each release of either program has its own"
KEPT = {
    "components": "what the original's controller does, controller and kubelet server do here",
    "kind_version": _VERSIONS,
    "kube_version": _VERSIONS,
    "metrics_server_version": _VERSIONS,
    "kind_node_image_prefix": "the registry from which the original computes the image",
    "restart": "settled when the runtime is chosen: engines restart the original's containers",
    "artifact_source": "where programs come from does not change what they do",
    "etcd_fsync": "as the original's etcd",
    "tracing_sampling_rate_per_million": "as the original's, and without an endpoint of no effect",
}
"""Options with a default that asks for something and is not the original's, or is for an option that it has not."""


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
def test_every_default_is_the_originals_or_has_a_reason(options: ClusterOptions) -> None:
    found = {each.field: value_of(options, each) for each in SPELLINGS if each.field not in KEPT}
    theirs = {each.field: as_original(each) for each in SPELLINGS if each.field not in KEPT}

    assert found == theirs | {"compat": "kwokctl"}


def as_original(spelling: Spelling) -> object:
    """Return the original's default; where it has none, what asks for nothing unless it is declared."""
    if spelling.key not in DEFAULTS:
        nothing = type(spelling.default)()
        return nothing if spelling.original is None else spelling.original
    theirs = DEFAULTS[spelling.key]
    if theirs is None:
        return ""
    return tuple(theirs) if isinstance(theirs, list) else theirs


def test_the_facts_have_a_default_of_each_key() -> None:
    assert sorted(DEFAULTS) == sorted(KEYS)


def test_what_the_catalogue_declares_of_the_original_is_a_fact() -> None:
    declared = {
        each.key: list(each.original) if isinstance(each.original, tuple) else each.original
        for each in SPELLINGS
        if each.original is not None and each.key in DEFAULTS
    }

    assert declared == {key: DEFAULTS[key] for key in declared}


def test_an_exception_is_one() -> None:
    kept = {each.field: each for each in SPELLINGS if each.field in KEPT}

    assert kept.keys() == KEPT.keys()
    assert all(each.default != as_original(each) for each in kept.values())


@pytest.mark.parametrize(
    ("flags", "environ", "given", "expected"),
    [
        ({}, {}, {"kubeAuthorization": False}, False),
        ({}, {"KWOK_KUBE_AUTHORIZATION": "false"}, {}, False),
        ({"kube_authorization": False}, {}, {}, True),
        ({}, {}, {"kubeAuthorization": False, "kubeAdmission": True}, True),
        ({"compat": ""}, {}, {"kubeAuthorization": False}, True),
        ({}, {}, {}, True),
    ],
)
def test_admission_goes_with_authorization_unless_that_is_a_flag(
    flags: dict[str, OptionValue],
    environ: dict[str, str],
    given: dict[str, object],
    expected: bool,
) -> None:
    compat = {} if "compat" in flags else {"compat": "kwokctl"}

    assert option(resolved({**compat, **flags}, environ, **given), "kube_admission") is expected


@pytest.mark.parametrize(
    ("program", "is_chosen", "by_engine", "expected"),
    [
        ("kwokctl", False, True, "on-failure"),
        ("kwokctl", False, False, "no"),
        ("kwokctl", True, True, "no"),
        ("", False, True, "no"),
    ],
)
def test_engines_restart_what_dies_unless_that_was_chosen(
    program: str, is_chosen: bool, by_engine: bool, expected: str
) -> None:
    found = compat.restarts("no", program, is_chosen=is_chosen, by_engine=by_engine)

    assert found == expected


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
        ([], {}, False),
    ],
)
def test_it_is_recognised_in_words_that_are_not_understood(
    words: list[str], environ: dict[str, str], expected: bool
) -> None:
    assert compat.is_asked_for(words, environ) is expected


@pytest.mark.parametrize(
    ("text", "words", "environ", "expected"),
    [
        ("{kind: KwokctlConfiguration, options: {compat: kwokctl}}", [], {}, True),
        ("{kind: KwokctlConfiguration, options: {compat: kwokctl}}", ["--compat", "x"], {}, False),
        (
            "{kind: KwokctlConfiguration, options: {compat: kwokctl}}",
            [],
            {"KWOK_COMPAT": "x"},
            False,
        ),
        ("{kind: KwokctlConfiguration}", [], {}, False),
        ("{kind: KwokConfiguration, options: {compat: kwokctl}}", [], {}, False),
        ("kind: [", [], {}, False),
    ],
)
def test_it_is_recognised_in_documents_that_words_name(
    tmp_path: Path, text: str, words: list[str], environ: dict[str, str], expected: bool
) -> None:
    (tmp_path / "a.yaml").write_text(text)

    assert compat.is_written([*words, "-c", f"-,{tmp_path}/a.yaml"], environ) is expected


@pytest.mark.parametrize("name", ["a" * 5000, "no\0path", "/no/such/file", "pipe"])
def test_a_path_that_cannot_be_read_again_says_nothing(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / "pipe")

    assert not compat.is_written(["--config", name.replace("pipe", f"{tmp_path}/pipe")], {})
