""""""

import pytest

from kwokctl.config.tracing_options import collector_address, host_and_port


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("127.0.0.1:4317", ("127.0.0.1", 4317)),
        ("localhost:4317", ("localhost", 4317)),
        ("[::1]:4317", ("::1", 4317)),
        ("collector.example.com:443", ("collector.example.com", 443)),
    ],
)
def test_a_collector_is_named_by_host_and_port(word: str, parts: tuple[str, int]) -> None:
    assert collector_address(word) is None
    assert host_and_port(word) == parts


@pytest.mark.parametrize(
    "word",
    [
        "localhost", "localhost:", "localhost:0", "localhost:65536", "localhost:http", ":4317", "::1",
        "http://localhost:4317", "localhost:4317/v1/traces", "me@localhost:4317", "a b:4317",
        "localhost:4317?x", "unix:///run/otlp.sock", "[::1", "-:4317",
    ],
)  # fmt: skip
def test_anything_else_is_refused(word: str) -> None:
    found = collector_address(word)

    assert found is not None
    assert "127.0.0.1:4317" in found.hint
