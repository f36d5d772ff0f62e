"""The mutants are those of the product as it is; `python -m tests.support.mutants` says what finds them."""

from importlib import import_module

import pytest

from tests.support.mutants.__main__ import LISTS


@pytest.mark.parametrize("name", LISTS)
def test_each_mutant_changes_a_function_of_today(name: str) -> None:
    for mutant in import_module(f"tests.support.mutants.{name}").MUTANTS:
        assert mutant.code() != mutant.function.__code__, mutant
