"""Keyword arguments become the request that the words of the command become."""

import pytest

from kwokctl.errors import UsageError
from kwokctl.library.faults.fault_words import FaultWords, request_of
from kwokctl.waits import USUAL


def test_words_are_those_of_the_command() -> None:
    words: FaultWords = {
        "nodes": "a", "parameters": {"gpu": 3}, "dialects": ["aks", "npd"], "lasts": 90, "at": "30s",
        "selector": "app=web", "wait": None, "seed": 7,
    }  # fmt: skip

    request = request_of("xid-79", words, "x")

    assert (request.class_name, request.name, request.seed) == ("xid-79", "x", 7)
    assert request.target.nodes == ("a",)
    assert request.target.pods is not None
    assert request.target.pods.selector == "app=web"
    assert request.settings == ("gpu=3",)
    assert request.dialects == ("aks", "npd")
    assert (request.lasts, request.at, request.wait) == ("90s", "30s", None)


def test_it_waits_unless_told_otherwise() -> None:
    assert request_of("xid-79", {"count": 1}, "x").wait == USUAL
    assert request_of("xid-79", {"count": 1}, "x").target.pods is None


def test_an_unknown_word_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="'wher' is no word") as caught:
        request_of("xid-79", {"wher": "x"}, "x")  # type: ignore[typeddict-unknown-key]
    assert str(caught.value.hint).startswith("did you mean 'where'?")
