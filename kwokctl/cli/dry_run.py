"""Prints what a command would do, in place of doing it."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from kwokctl.cli.conclusion import Outcome, conclude
from kwokctl.cli.invocation import Invocation
from kwokctl.cli.output import results

if TYPE_CHECKING:
    from kwokctl.script.steps import Action


def show(call: Invocation, steps: "Iterable[Action]", output: str = "") -> None:
    """Print steps as a script for sh; as `output`, if that is given, in the command's document."""
    from kwokctl.script.posix_shell import written
    from kwokctl.script.steps import Script

    workdir = str(call.home.workdir.root)
    command = f"{call.itself} {call.command}"
    text = written(Script(command=command, steps=tuple(steps), variables={"KWOK_WORKDIR": workdir}))
    if not output:
        results.emit(text)
        return
    outcome = Outcome(
        message="nothing was done", cluster=call.name, changed=False, result={"script": text}
    )
    conclude(call, outcome, output)


def remark(call: Invocation, text: str, output: str = "") -> None:
    """Print in a comment what would be done, where that is no script."""
    from kwokctl.script.steps import Comment

    show(call, [Comment(text)], output)
