""""""

import pytest

from kwokctl.artifacts.builds.build import is_lacking, nearest


@pytest.mark.parametrize(
    "output",
    [
        "k8s.io/cri-api@v0.34.8: reading https://proxy.example/@v/v0.34.8.zip: 403 Forbidden",
        "k8s.io/api@v0.31.14: verifying module: k8s.io/api@v0.31.14: reading https://sum.example/lookup: 404",
    ],
)
def test_go_says_that_a_module_cannot_be_read(output: str) -> None:
    assert is_lacking(f"go: downloading\n\tk8s.io/x imports\n\t{output}\n")


@pytest.mark.parametrize("output", [None, "", "one.go:1:1: syntax error"])
def test_other_failures_have_nothing_to_do_with_the_patch(output: str | None) -> None:
    assert not is_lacking(output)


def test_the_patch_that_most_modules_have_comes_before_a_nearer_one() -> None:
    versions = {
        "main": ["v1.34.0", "v1.34.4", "v1.34.7"],
        "one": ["v0.34.0", "v0.34.4"],
        "other": ["v0.34.4", "v0.34.9"],
    }

    assert nearest("v1.34.8", {"main"}, versions) == "v1.34.4"


def test_other_minor_releases_and_candidates_are_not_named() -> None:
    assert nearest("v3.5.24", {"etcd"}, {"etcd": ["v3.6.24", "v3.5.25-rc.0", "v3.5.24"]}) is None


def test_a_patch_needs_the_modules_of_all_programs() -> None:
    versions = {"server": ["v3.5.21", "v3.5.24"], "etcdutl": ["v3.5.9"]}

    assert nearest("v3.5.24", {"server", "etcdutl"}, versions) is None
