"""The environment, folder and user of a command that runs for a container."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from kwokctl.host.children.child import ChildOptions
from kwokctl.kubelet.streams.commands.documents import LocalExec, RunAs
from kwokctl.kubelet.streams.remote.options import StreamOptions
from kwokctl.kubelet.streams.targets import ContainerTarget, pod_environment

if TYPE_CHECKING:
    from pwd import struct_passwd


def child_options(
    local: LocalExec, target: ContainerTarget, options: StreamOptions, inherited: Mapping[str, str]
) -> ChildOptions:
    """Return what is run; `inherited` is the environment to which the document's adds."""
    run_as = local.security_context or RunAs()
    account = _account(run_as.run_as_user)
    user, group = _ids(run_as, account)
    return ChildOptions(
        argv=options.command,
        env={
            **inherited,
            **pod_environment(target.pod),
            "CONTAINER_NAME": target.container.name,
            **({"HOME": account.pw_dir} if account is not None else {}),
            # As with real kubelets, which know as little of the client's terminal.
            **({"TERM": "xterm"} if options.tty else {}),
            **{each.name: each.value for each in local.envs},
        },
        folder=local.work_dir or None,
        user=user,
        group=group,
        has_input=options.stdin,
        has_terminal=options.tty,
    )


def _account(user: int | None) -> "struct_passwd | None":
    import pwd  # not on Windows

    try:
        return pwd.getpwuid(user) if user is not None else None
    except KeyError:
        return None


def _ids(run_as: RunAs, account: "struct_passwd | None") -> tuple[int | None, int | None]:
    """Return the user and the group to change to, None where that is not needed.

    A user without a group has the one of its account, or else one of the same number: never ours.
    """
    user, group = run_as.run_as_user, run_as.run_as_group
    if user is not None and group is None:
        group = account.pw_gid if account is not None else user
    # Who is not root may not even become itself with no other groups.
    if user in {None, os.geteuid()} and group in {None, os.getegid()}:
        return None, None
    return user, group
