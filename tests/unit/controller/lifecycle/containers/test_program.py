"""What the program of a fake container does."""

from typing import Any

import pytest

from kwokctl.controller.lifecycle.containers.program import ContainerProgram, program_of


def program(
    *command: str, ends: bool = False, annotations: Any = None, **more: Any
) -> ContainerProgram:
    container = {"name": "main", "command": list(command), **more}
    return program_of(container, annotations or {}, ends=ends)


@pytest.mark.parametrize(
    ("command", "run", "code"),
    [
        (["sleep", "30"], 30, 0),
        (["/bin/sleep", "1.5m"], 90, 0),
        (["true"], 0, 0),
        (["/usr/bin/false"], 0, 1),
        (["sh", "-c", "sleep 5; exit 3"], 5, 3),
        (["/bin/sh", "-c", "echo hello && sleep 2 && sleep 3"], 5, 0),
        (["bash", "-c", "sleep 1\nfalse"], 1, 1),
    ],
)
def test_commands_that_can_be_read(command: list[str], run: float, code: int) -> None:
    found = program(*command)

    assert (found.run, found.exit_code(0)) == (run, code)


@pytest.mark.parametrize(
    "command",
    [["nginx"], ["sleep", "long"], ["sh", "-c", "make; exit 1"], ["sh", "-c", "exit 999"], []],
)
def test_all_others_run_until_they_are_stopped_or_a_second(command: list[str]) -> None:
    assert program(*command).run is None
    assert program(*command, ends=True).run == 1.0


def test_an_endless_sleep_has_no_end_in_any_pod() -> None:
    assert program("sleep", "infinity", ends=True).run is None
    assert program("sh", "-c", "sleep inf", ends=True).run is None


def test_sleep_and_shells_ignore_the_signal_to_end() -> None:
    assert program("sleep", "30").ignores_signals
    assert program("sh", "-c", "sleep 30").ignores_signals
    assert program("x", annotations={"kwokctl.dev/program": "stop=forever"}).ignores_signals
    assert not program("nginx").ignores_signals


def test_arguments_come_after_the_command() -> None:
    assert program("sleep", args=["7"]).run == 7


def test_an_annotation_for_a_container_comes_before_that_for_all() -> None:
    annotations = {"kwokctl.dev/program": "run=1s exit=2", "program.kwokctl.dev/main": "run=3s"}
    found = program("sleep", "30", annotations=annotations)

    assert (found.run, found.exit_code(0)) == (3, 2)


def test_the_last_exit_code_is_that_of_all_later_runs() -> None:
    found = program(annotations={"kwokctl.dev/program": "exit=1,0"})

    assert [found.exit_code(restarts) for restarts in range(3)] == [1, 0, 0]
