"""Every option of the original is served, or is in the list of those that are not."""

import pytest

from kwokctl.cli import app
from kwokctl.components.catalog import usual_options
from kwokctl.config.options import spellings
from kwokctl.config.original.not_served import NOT_SERVED
from tests.support.original_kwokctl import CREATE_FLAGS, KEYS, VARIABLES

_SERVED = spellings(usual_options())


@pytest.mark.parametrize("key", KEYS)
def test_a_key_of_the_original_is_served_or_has_a_reason(key: str) -> None:
    served = [each for each in _SERVED if each.key == key]
    others = [each for each in NOT_SERVED if each.key == key]

    assert len(served) + len(others) == 1
    assert all(each.reason for each in others)


@pytest.mark.parametrize("name", [name for name in VARIABLES if name != "KWOK_WORKDIR"])
def test_a_variable_of_the_original_is_served_or_has_a_reason(name: str) -> None:
    variables = [*(each.env for each in _SERVED), *(each.env for each in NOT_SERVED)]

    assert variables.count(name) == 1


@pytest.mark.parametrize("flag", CREATE_FLAGS)
def test_a_flag_of_the_original_is_read(flag: str) -> None:
    create = app.build().commands["create"].commands["cluster"]

    assert any(flag in param.opts for param in create.params)


def test_what_is_not_served_is_an_option_of_the_original() -> None:
    assert {each.key for each in NOT_SERVED} <= {*KEYS}
    assert {each.flag for each in NOT_SERVED if each.flag} <= {*CREATE_FLAGS}
