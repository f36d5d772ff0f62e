"""The mutants are those of the product as it is; `python -m tests.support.mutants` says what finds them."""

from tests.support.mutants import traced_lives


def test_each_mutant_changes_a_function_of_today() -> None:
    for mutant in traced_lives.MUTANTS:
        assert mutant.code() != mutant.function.__code__, mutant
