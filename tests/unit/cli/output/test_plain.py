import io

import pytest

from kwokctl.cli.output.plain import Plain
from tests.support.streams import Awaited


def console() -> tuple[Plain, io.StringIO]:
    stream = io.StringIO()
    return Plain(stream, clock=iter([0.0, 1.9, 2.0, 3.0, 4.0]).__next__), stream


def test_a_step_is_two_lines_without_control_characters() -> None:
    plain, stream = console()
    with plain.step("Starting etcd, kube-apiserver"):
        pass
    assert stream.getvalue() == (
        "· Starting etcd, kube-apiserver\n✓ Starting etcd, kube-apiserver (1.9 s)\n"
    )


def test_a_step_that_fails_is_crossed() -> None:
    plain, stream = console()
    with pytest.raises(ValueError, match="no"), plain.step("Building"):
        raise ValueError("no")
    assert stream.getvalue().splitlines()[-1] == "✗ Building (1.9 s)"


def test_steps_and_notes_inside_a_step_are_indented() -> None:
    plain, stream = console()
    with plain.step("Outer"):
        plain.note("from the mirror")
        with plain.step("Inner"):
            pass
    assert stream.getvalue().splitlines() == [
        "· Outer", "  from the mirror", "  · Inner", "  ✓ Inner (0.1 s)", "✓ Outer (3.0 s)",
    ]  # fmt: skip


def test_long_work_gives_a_sign_of_life() -> None:
    stream = Awaited(" s, etcd)")
    plain = Plain(stream, beat=0.001)
    with plain.step("Fetching", total=2_000_000, unit="B") as step:
        step.advance(1_000_000)
        step.say("etcd")
        assert stream.seen.wait(20)
    assert "… Fetching (1.0 MB of 2.0 MB, " in stream.getvalue()


def test_a_warning_is_named_and_freed_of_control_characters() -> None:
    plain, stream = console()
    plain.warn("odd \x1b[2Jname")
    assert stream.getvalue() == "warning: odd [2Jname\n"
