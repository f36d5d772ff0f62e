import pytest

from kwokctl.artifacts.builds.gomod import linker_flags, needed, release, scratch, staged

_PUBLISHED = """\
module k8s.io/kubernetes

go 1.26.0

godebug default=go1.26

require (
\tk8s.io/api v0.0.0
\tk8s.io/client-go v0.0.0 // indirect
\tk8s.io/kube-openapi v0.0.0-20260317180543-43fb72c5454a
\tk8s.io/utils v0.0.0-20260210185600-b8788abfbbc2
\tsigs.k8s.io/json v0.0.0-20250730193827-2d320260d730
)

require k8s.io/kms v0.0.0

replace k8s.io/api => ./staging/src/k8s.io/api
"""


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("go1.26.8", (1, 26, 8)),
        ("1.26", (1, 26, 0)),
        ("go1.27rc1", (1, 27, -1)),
        ("devel go1.28-a1b2c3 Mon", (1, 28, 0)),
        ("tip", (0, 0, 0)),
    ],
)
def test_a_go_release_is_read_as_numbers(text: str, numbers: tuple[int, int, int]) -> None:
    assert release(text) == numbers


def test_a_release_candidate_comes_before_its_release() -> None:
    assert release("1.27rc1") < release("1.27")


def test_a_module_states_which_go_it_needs() -> None:
    assert needed(_PUBLISHED) == (1, 26, 0)
    assert needed("module old\n") == (1, 16, 0)


def test_only_modules_required_at_exactly_zero_are_of_the_same_tree() -> None:
    assert staged(_PUBLISHED) == ["k8s.io/api", "k8s.io/client-go", "k8s.io/kms"]


def test_the_scratch_module_takes_the_published_versions_of_what_is_staged() -> None:
    assert scratch({"k8s.io/kubernetes": _PUBLISHED}, version="v1.36.3").splitlines() == [
        "module scratch",
        "",
        "go 1.26.0",
        "",
        "godebug default=go1.26",
        "require k8s.io/kubernetes v1.36.3",
        "replace k8s.io/api => k8s.io/api v0.36.3",
        "replace k8s.io/client-go => k8s.io/client-go v0.36.3",
        "replace k8s.io/kms => k8s.io/kms v0.36.3",
    ]


def test_the_scratch_module_of_a_pre_release_takes_pre_releases() -> None:
    text = scratch({"k8s.io/kubernetes": _PUBLISHED}, version="v1.37.0-beta.1")

    assert "replace k8s.io/kms => k8s.io/kms v0.37.0-beta.1\n" in text


def test_the_scratch_module_of_several_needs_the_newest_go_of_all() -> None:
    text = scratch({"a/v3": "go 1.24\n", "b/v3": "go 1.25.3\n"}, version="v3.6.16")

    assert text == "module scratch\n\ngo 1.25.3\n\nrequire a/v3 v3.6.16\nrequire b/v3 v3.6.16\n"


def test_debug_settings_in_a_block_are_repeated() -> None:
    text = scratch(
        {"a": "go 1.24\ngodebug (\n\tdefault=go1.24\n\tpanicnil=1\n)\n"}, version="v1.0.0"
    )

    assert "godebug default=go1.24\ngodebug panicnil=1\n" in text


def test_linker_flags_set_the_version_in_each_package() -> None:
    flags = linker_flags("v1.36.3", ["a/version", "b/version"])

    assert flags.startswith("-s -w -X a/version.gitVersion=v1.36.3 -X a/version.gitMajor=1 ")
    assert "-X b/version.gitMinor=36" in flags


def test_without_packages_to_set_only_debug_tables_are_left_out() -> None:
    assert linker_flags("v3.6.16", []) == "-s -w"
