import io
import json

import pytest

from kwokctl.cli.output import failures
from kwokctl.cli.output.plain import Plain
from kwokctl.errors import BusyError, ComponentError, KwokctlError, UsageError
from tests.support.terminal import written

ERROR = BusyError("the cluster 'x' is busy", hint="wait", detail="pid 7\nsince noon")


def printed(*errors: KwokctlError, as_json: bool = False) -> str:
    stream = io.StringIO()
    failures.report(errors, Plain(stream), as_json=as_json)
    return stream.getvalue()


def test_an_error_is_printed_with_its_hint_and_the_output_of_the_program() -> None:
    assert printed(ERROR) == (
        "error: the cluster 'x' is busy\nhint: wait\noutput: pid 7\nsince noon\n"
    )


def test_what_a_program_said_can_be_copied_from_a_narrow_terminal() -> None:
    reason = "listen tcp 127.0.0.1:2379: bind: address already in use by another program"
    error = ComponentError("'etcd' has exited", detail=f"{reason}\n{reason}")

    shown = written(
        lambda stream: failures.report([error], Plain(stream), as_json=False), columns=40
    )

    assert shown == f"error: 'etcd' has exited\noutput: {reason}\n{reason}\n"


def test_a_program_gets_each_error_as_one_line() -> None:
    assert json.loads(printed(ERROR, as_json=True)) == {
        "error": {
            "id": "busy",
            "message": "the cluster 'x' is busy",
            "hint": "wait",
            "output": "pid 7\nsince noon",
        }
    }


@pytest.mark.parametrize(
    ("words", "is_json"),
    [
        ("get clusters -o json", True),
        ("get clusters -ojson", True),
        ("get clusters --output=json", True),
        ("get clusters --output json --nonsense", True),
        ("get clusters -o yaml", False),
        ("json -o", False),
        ("kubectl get pods -o json", False),
        ("--name x kubectl get pods -o json", False),
    ],
)
def test_json_output_applies_to_wrong_arguments_but_not_to_another_tool(
    words: str, is_json: bool
) -> None:
    assert failures.wants_json(words.split()) is is_json


def test_errors_of_tasks_that_failed_together_are_all_printed() -> None:
    inner = ExceptionGroup("inner", [UsageError("b")])
    group = ExceptionGroup("outer", [ERROR, inner])
    assert [str(error) for error in failures.expected(group)] == [str(ERROR), "b"]


def test_a_group_that_holds_a_bug_is_a_bug() -> None:
    assert list(failures.expected(ExceptionGroup("outer", [ERROR, KeyError("x")]))) == []
    assert list(failures.expected(KeyError("x"))) == []


def test_an_os_error_is_printed_with_its_file() -> None:
    refused = PermissionError(13, "Permission denied", "/root/.kwok")
    assert [str(e) for e in failures.expected(refused)] == ["permission denied: '/root/.kwok'"]


@pytest.mark.parametrize(
    ("path", "is_hinted"),
    [("/nonexistent", True), ("/nonexistent/.kwok/clusters", True), ("/x", False)],
)
def test_an_unwritable_home_is_reported_with_variables_for_other_folders(
    monkeypatch: pytest.MonkeyPatch, path: str, is_hinted: bool
) -> None:
    monkeypatch.delenv("KWOK_WORKDIR", raising=False)
    monkeypatch.setenv("HOME", "/nonexistent")

    (printed,) = failures.expected(PermissionError(13, "Permission denied", path))

    assert ("KWOK_WORKDIR" in (printed.hint or "")) is is_hinted


def test_a_full_disk_is_reported_with_commands_that_free_space() -> None:
    (printed,) = failures.expected(OSError(28, "No space left on device", "/disk/kwok.yaml"))
    assert str(printed) == "no space left on device: '/disk/kwok.yaml'"
    assert printed.hint
    assert "delete cluster" in printed.hint
