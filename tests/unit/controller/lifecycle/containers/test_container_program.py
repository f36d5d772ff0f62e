"""What the program of a fake container does."""

import resource
from typing import Any

import pytest

from kwokctl.controller.lifecycle.containers.container_program import ContainerProgram
from kwokctl.controller.lifecycle.containers.find_program import ProgramRule, program_of


def program(
    *command: str, ends: bool = False, annotations: Any = None, **more: Any
) -> ContainerProgram:
    container = {"name": "main", "command": list(command), **more}
    return program_of(container, {"annotations": annotations or {}}, ends=ends)


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
        (["sh", "-c", "exit $((1 + 2 * 3))"], 0, 7),
        (["sh", "-c", "test 1 -eq 2 || exit 7"], 0, 7),
        (["sh", "-c", '[ "$X" = "" ] && exit 6'], 0, 6),
        (["sh", "-ec", "false; sleep 4"], 0, 1),
        (["sh", "-c", "for i in $(seq 1 3); do sleep 2; done; exit 4"], 6, 4),
        (["sh", "-c", "i=0; while [ $i -lt 5 ]; do sleep 1; i=$((i+1)); done"], 5, 0),
        (["sh", "-c", "if [ $(expr 3 % 2) -ne 0 ]; then\n exit 1\nelse\n exit 0\nfi"], 0, 1),
        (["sh", "-c", "(sleep 3; exit 2) || exit 5"], 3, 5),
        (["sh", "-c", "sleep 4 & sleep 1; wait; exit 2"], 4, 2),
        (["sh", "-c", "exec sleep 30 # the rest is never reached\nexit 1"], 30, 0),
        (["sleep", "1", "2m"], 121, 0),
    ],
)
def test_commands_that_can_be_read(command: list[str], run: float, code: int) -> None:
    found = program(*command, env=[{"name": "X"}])

    assert (found.run, found.exit_code(0)) == (run, code)


@pytest.mark.parametrize(
    "command",
    [["nginx"], ["sleep", "long"], ["sh", "-c", "make; exit 1"], ["sh", "-c", "exit 999"], []],
)
def test_all_others_run_until_they_are_stopped_or_a_second(command: list[str]) -> None:
    assert program(*command).run is None
    assert program(*command, ends=True).run == 1.0


@pytest.mark.parametrize(
    "command",
    [
        ["pause"],
        ["/pause"],
        ["tail", "-f", "/dev/null"],
        ["sh", "-c", "echo out; echo err >&2; tail -F /dev/null"],
        ["sh", "-c", "while true; do sleep 1; done"],
        ["sh", "-c", "while :; do date; done"],
        ["sh", "-c", "until false; do echo $(date); sleep 1; done"],
        ["sh", "-c", "sleep infinity & wait"],
        ["sh", "-c", "nginx & wait $!"],
    ],
)
def test_what_runs_on_does_so_in_every_pod(command: list[str]) -> None:
    assert program(*command, ends=True).run is None
    assert program(*command).run is None


def test_the_image_that_waits_runs_on_in_every_pod() -> None:
    assert program(ends=True, image="registry.k8s.io/pause:3.10").run is None
    assert program(ends=True, image="example.com/pauses:1").run == 1.0
    assert program("sleep", "3", ends=True, image="pause").run == 3


@pytest.mark.parametrize(
    ("script", "run", "code"),
    [
        ("make && sleep 1d", 86400, 0),
        ("make; exit 3", 1, 3),
        ("until nslookup db; do sleep 2; done", 1, 0),
        ("while ! nc -z db 5432; do echo $(date); sleep 1; done", 1, 0),
    ],
)
def test_unknown_commands_of_a_script_succeed_in_a_pod_that_is_to_end(
    script: str, run: float, code: int
) -> None:
    found = program("sh", "-c", script, ends=True)

    assert (found.run, found.exit_code(0)) == (run, code)
    assert program("sh", "-c", script).run is None


@pytest.mark.parametrize(
    "script",
    [
        "while [ ! -f /tmp/there ]; do sleep 1; done",
        "exit $(cat /tmp/code)",
        "exit $((1 / 0))",
        "sleep $LENGTH",
        "case x in x) exit 1;; esac",
        "if true; then exit 1",
        "((i++))",
        "echo 'open",
        "( " * 3000,
    ],
)
def test_of_a_script_that_depends_on_what_is_not_known_nothing_is_said(script: str) -> None:
    assert program("sh", "-c", script, ends=True).run == 1.0


@pytest.mark.parametrize(
    "script",
    [
        "a=xxxxxxxx; while true; do a=$a$a; sleep 1; done",
        "for i in $(seq 4000); do test $(seq 4000); done",
        "f() { f; }; f",
        "\n".join(["sleep 1"] * 2000),
    ],
)
def test_of_a_script_that_would_take_all_memory_or_time_nothing_is_said(script: str) -> None:
    limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (2**32, limits[1]))
    try:
        assert program("sh", "-c", script).run is None
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)


def test_a_trap_ends_a_script_after_the_command_that_runs() -> None:
    graceful = program("sh", "-c", "trap exit TERM; while true; do sleep 1; done")
    waiting = program("sh", "-c", "trap 'exit 3' SIGTERM; sleep infinity & wait $!")
    late = program("sh", "-c", "trap 'exit 3' TERM; sleep infinity")

    assert (graceful.stop, graceful.stop_code) == (1.0, 0)
    assert (waiting.stop, waiting.stop_code) == (0.0, 3)
    assert late.ignores_signals


def test_a_function_handles_the_signal_and_variables_come_from_the_pod() -> None:
    script = (
        'stop() {\n if [ "${NAME}" = "web-0" ]; then exit 1; else exit 0; fi\n}\n'
        "trap stop TERM\nwhile true; do sleep 1; done"
    )
    env = [{"name": "NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]
    codes = [
        program_of(
            {"name": "main", "command": ["sh", "-c", script], "env": env},
            {"name": name},
            ends=False,
        ).stop_code
        for name in ("web-0", "web-1")
    ]

    assert codes == [1, 0]


def test_a_label_or_an_annotation_is_a_variable_as_well() -> None:
    path = "metadata.annotations['batch.kubernetes.io/job-completion-index']"
    env = [{"name": "INDEX", "valueFrom": {"fieldRef": {"fieldPath": path}}}]
    annotations = {"batch.kubernetes.io/job-completion-index": "7"}
    script = "exit $(expr ${INDEX} % 2)"

    assert program("sh", "-c", script, env=env, annotations=annotations).exit_codes == (1,)
    assert program("sleep", "$(INDEX)", env=env, annotations=annotations).run == 7


def test_a_file_that_a_run_leaves_in_a_volume_is_there_in_the_next_run() -> None:
    script = "if [[ -r /data/foo ]]\nthen\n exit 0\nelse\n touch /data/foo\n exit 1\nfi"
    in_volume = program("sh", "-c", script, volumeMounts=[{"mountPath": "/data"}])

    assert in_volume.exit_codes == (1, 0)
    assert program("sh", "-c", script).exit_codes == (1,)


def test_documents_say_what_images_and_commands_do() -> None:
    rules = (
        ProgramRule(image="*/agnhost:*", command="netexec*", program="run=forever", place="a"),
        ProgramRule(image="gone/*", program="pull-failures=-1", place="b"),
        ProgramRule(program="run=5s", place="c"),
    )

    def found(image: str, *args: str, **annotations: str) -> ContainerProgram:
        container = {"name": "main", "image": image, "args": list(args)}
        return program_of(container, {"annotations": annotations}, ends=True, rules=rules)

    assert found("example.com/agnhost:2", "netexec", "--port=1").run is None
    assert found("example.com/agnhost:2", "pause").run == 5
    assert found("gone/x").pull_failures == -1
    assert found("gone/x", **{"kwokctl.dev/program": "pull-failures=0"}).pull_failures == 0


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
