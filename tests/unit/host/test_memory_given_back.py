from kwokctl.embedded.process_metrics import resident_bytes
from kwokctl.host.memory import give_back


def test_gaps_between_what_is_used_are_given_back() -> None:
    # Written to: what is only promised takes no memory.
    pieces = [bytes([7]) * 100_000 for _ in range(2_000)]
    kept = pieces[::2]
    del pieces
    before = resident_bytes()

    give_back()

    assert len(kept) == 1_000
    assert resident_bytes() < before - 50_000_000
