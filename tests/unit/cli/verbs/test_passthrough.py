import pytest

from kwokctl.cli.verbs.passthrough import dials


@pytest.mark.parametrize(
    ("words", "is_dialled"),
    [
        (["get", "nodes"], True),
        (["-n", "x", "get", "pods"], True),
        (["version", "--client"], False),
        (["version"], True),
        (["config", "view"], False),
        (["get", "--help"], False),
        ([], False),
    ],
)
def test_the_arguments_show_whether_a_server_is_dialled(words: list[str], is_dialled: bool) -> None:
    assert dials(words) is is_dialled
