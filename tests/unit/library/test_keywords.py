"""Options are keyword arguments, called as the flags of the command are."""

from pathlib import Path

import pytest

from kwokctl.errors import UsageError
from kwokctl.library.keywords import Option, flags_of


@pytest.mark.parametrize(
    ("name", "value", "flag"),
    [
        ("runtime", "docker", "docker"),
        ("nodes", 10, 10),
        ("nodes", "10", "10"),
        ("etcd_tls", True, True),
        ("enable_crds", ["Stage"], ("Stage",)),
        ("enable_crds", "Stage", "Stage"),
        ("kube_apiserver_binary", Path("/bin/true"), "/bin/true"),
        ("kube_version", "v1.34.1", "v1.34.1"),
    ],
)
def test_a_value_may_have_the_type_of_its_option(name: str, value: Option, flag: Option) -> None:
    assert flags_of({name: value}) == {name: flag}


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("node", 3, "'node' is not an option of a cluster"),
        ("nodes", 1.5, "'nodes' is 1.5, which is not of type int"),
        ("nodes", True, "'nodes' is True, which is not of type int"),
        ("nodes", [3], r"'nodes' is \[3\], which is not of type int"),
        ("enable_crds", 3, "'enable_crds' is 3, which is not a list"),
    ],
)
def test_what_cannot_be_right_is_refused(name: str, value: Option, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        flags_of({name: value})


def test_a_name_that_is_nearly_right_is_suggested() -> None:
    with pytest.raises(UsageError) as caught:
        flags_of({"kube_versoin": "v1.34.1"})

    assert caught.value.hint == "did you mean 'kube_version'?"
