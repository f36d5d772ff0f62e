"""Gives a cluster that has just been created its first nodes and pods."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kwokctl.cli.invocation import Invocation
from kwokctl.cli.verbs.scale import objects_of, scale_within
from kwokctl.errors import KwokctlError
from kwokctl.replacing import replace

if TYPE_CHECKING:
    from kwokctl.clusters.scaling.request import ScaleRequest, ScaleResult
    from kwokctl.config.documents import Document

_LEAST_WAIT = 1.0
"""Seconds that objects are waited for however long the cluster has taken."""


def words_of(request: "ScaleRequest", wait: float | None) -> tuple[str, ...]:
    """Return the words of the command that makes the same objects."""
    waiting = ("--wait", f"{wait:.0f}s") if wait else ()
    return ("scale", request.kind, "--replicas", str(request.replicas), *waiting)


def populate(
    call: Invocation,
    requests: "Sequence[ScaleRequest]",
    documents: "Sequence[Document]",
    *,
    wait: float | None,
    timeout: float | None,
) -> "list[ScaleResult]":
    """Make objects until there are as many as requested; none is deleted.

    `wait` counts from the beginning of the command. What fails leaves the cluster and what was made.
    """
    done: list[ScaleResult] = []
    for request in requests:
        left = max(wait - (time.monotonic() - call.began), _LEAST_WAIT) if wait else None
        command = f"{call.itself} scale {request.kind} --replicas {request.replicas}"
        with _going_on(call, command):
            result = call.run(
                scale_within,
                call.home,
                call.cluster,
                replace(request, wait=left),
                documents=documents,
                kubeconfig=None,
                data_path=None,
                limit=timeout,
            )
        if result.count > request.replicas:
            call.console.warn(
                f"there are {objects_of(result)}, more than '--{request.kind}s {request.replicas}' "
                f"asks for: none was deleted; '{command}' deletes the newest"
            )
        done.append(result)
    return done


@contextmanager
def _going_on(call: Invocation, command: str) -> Iterator[None]:
    """Say, after a failure or interrupt, that the cluster stays and how to continue."""
    stays = f"the cluster '{call.name}' is running and is kept; continue with: {command}"
    try:
        yield
    except KwokctlError as e:
        e.hint = f"{e.hint}; {stays}" if e.hint else stays
        raise
    except BaseException:
        call.console.line(stays)
        raise
