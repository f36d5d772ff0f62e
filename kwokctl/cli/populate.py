"""Gives a cluster that has just been created its first nodes and pods."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kwokctl.cli.invocation import Invocation
from kwokctl.cli.scale import objects_of, scale_within
from kwokctl.errors import KwokctlError

if TYPE_CHECKING:
    from kwokctl.clusters.scaling.request import ScaleResult
    from kwokctl.config.documents import Document
    from kwokctl.config.options import ClusterOptions

_LEAST_WAIT = 1.0
"""Seconds that objects are waited for however long the cluster has taken."""


def populate(
    call: Invocation,
    options: "ClusterOptions",
    documents: "Sequence[Document]",
    *,
    wait: float | None,
    timeout: float | None,
) -> "list[ScaleResult]":
    """Make nodes, then pods, until there are as many as `options` ask for; none is deleted.

    `wait` counts from the beginning of the command. What fails leaves the cluster and what was made.
    """
    from kwokctl.clusters.scaling.request import ScaleRequest

    done: list[ScaleResult] = []
    for kind, replicas in (("node", options.nodes), ("pod", options.pods)):
        if not replicas:
            continue
        left = max(wait - (time.monotonic() - call.began), _LEAST_WAIT) if wait else None
        request = ScaleRequest(kind=kind, replicas=replicas, wait=left, may_shrink=False)
        with _going_on(call, f"{call.itself} scale {kind} --replicas {replicas}"):
            result = call.run(
                scale_within,
                call.home,
                call.cluster,
                request,
                documents=documents,
                kubeconfig=None,
                data_path=None,
                limit=timeout,
            )
        if result.count > replicas:
            call.console.warn(
                f"there are {objects_of(result)}, more than '--{kind}s {replicas}' asks for: none was deleted; "
                f"'{call.itself} scale {kind} --replicas {replicas}' deletes the newest"
            )
        done.append(result)
    return done


@contextmanager
def _going_on(call: Invocation, command: str) -> Iterator[None]:
    """Say, when it fails or is interrupted, that the cluster stays and how to go on."""
    stays = f"the cluster '{call.name}' is up and stays; go on with: {command}"
    try:
        yield
    except KwokctlError as e:
        e.hint = f"{e.hint}; {stays}" if e.hint else stays
        raise
    except BaseException:
        call.console.line(stays)
        raise
