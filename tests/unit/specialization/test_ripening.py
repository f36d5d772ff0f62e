"""What is made for keys that come often, and how many are remembered."""

from kwokctl.specialization.ripening import Ripening


def come(table: Ripening[str, str], key: str, times: int) -> str | None:
    found = None
    for _ in range(times):
        found = table.get(key, lambda: f"for {key}")
    return found


def test_a_value_is_made_when_its_key_comes_the_eighth_time() -> None:
    table: Ripening[str, str] = Ripening(4)

    assert come(table, "a", 7) is None
    assert come(table, "a", 1) == "for a"
    assert come(table, "a", 1) == "for a"


def test_what_cannot_be_made_is_not_tried_again() -> None:
    table: Ripening[str, str] = Ripening(4)
    tried = []

    for _ in range(100):
        assert table.get("a", lambda: tried.append("a")) is None

    assert tried == ["a"]


def test_the_value_that_was_used_longest_ago_is_forgotten() -> None:
    table: Ripening[str, str] = Ripening(2)
    come(table, "a", 8)
    come(table, "b", 8)
    come(table, "a", 1)

    come(table, "c", 8)

    assert come(table, "a", 1) == "for a"
    assert come(table, "b", 1) is None


def test_no_more_keys_are_counted_than_values_are_kept() -> None:
    table: Ripening[str, str] = Ripening(2)

    for _ in range(20):
        for key in ("a", "b", "c"):
            assert come(table, key, 1) is None
