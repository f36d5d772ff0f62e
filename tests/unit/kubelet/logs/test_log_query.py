""""""

import pytest

from kwokctl.embedded.http.messages import RefusedError, Request
from kwokctl.kubelet.logs.log_query import LogQuery, log_query

NOW = 1_800_000_000.0


def asked(**parameters: str) -> LogQuery:
    return log_query(Request(method="GET", path="/", query=tuple(parameters.items())), NOW)


def test_nothing_asked_for_is_everything_at_once() -> None:
    assert asked() == LogQuery()


def test_the_options_of_kubectl_logs_are_read() -> None:
    assert asked(follow="true", previous="1", timestamps="True", limitBytes="9") == LogQuery(
        follow=True, previous=True, timestamps=True, limit=9
    )
    assert asked(tailLines="0").tail == 0
    assert asked(tail="5").tail == 5
    assert asked(tailLines="all").tail is None
    assert asked(sinceSeconds="60").since == NOW - 60
    assert asked(sinceTime="1970-01-01T00:01:00.5Z").since == 60.5
    assert [asked(stream=each).stream for each in ("All", "Stdout", "Stderr")] == [
        "", "stdout", "stderr",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "parameters",
    [
        {"tailLines": "-1"},
        {"tailLines": "many"},
        {"limitBytes": "0"},
        {"sinceSeconds": "0"},
        {"sinceSeconds": "1", "sinceTime": "2026-01-01T00:00:00Z"},
        {"sinceTime": "yesterday"},
        {"stream": "stdout"},
        {"stream": "Stderr", "tailLines": "1"},
        {"follow": "perhaps"},
        {"limitBytes": "9" * 400},
    ],
)
def test_what_is_wrong_is_refused_in_words_without_a_colon(parameters: dict[str, str]) -> None:
    with pytest.raises(RefusedError) as caught:
        asked(**parameters)
    assert caught.value.status == 400
    # A client that reads it as YAML would take it for a mapping.
    assert ": " not in str(caught.value)
