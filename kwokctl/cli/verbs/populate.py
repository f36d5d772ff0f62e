"""Gives a cluster that has just been created its first nodes and pods."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kwokctl.cli.invocation import Invocation
from kwokctl.cli.verbs.scale import objects_of
from kwokctl.errors import KwokctlError
from kwokctl.replacing import replace
from kwokctl.waits import Standstill

if TYPE_CHECKING:
    from kwokctl.clusters.scaling.scale_request import ScaleRequest, ScaleResult
    from kwokctl.config.config_documents import Document


def words_of(request: "ScaleRequest", wait: float | None) -> tuple[str, ...]:
    """Return the words of the command that makes the same objects."""
    as_it_moves = isinstance(wait, Standstill)
    waiting = ("--wait", *(() if as_it_moves else (f"{wait:.0f}s",))) if wait else ()
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

    Each set is waited for once it has been made, however long that, and the cluster, has taken. What
    fails leaves the cluster and what was made.
    """
    if not requests:
        # A cluster without objects needs no expressions and no data plane, which take long to load.
        return []
    from kwokctl.clusters.scale import scale

    done: list[ScaleResult] = []
    for request in requests:
        command = f"{call.itself} scale {request.kind} --replicas {request.replicas}"
        with going_on(call, " ".join((call.itself, *words_of(request, wait)))):
            result = call.run(
                scale,
                call.home,
                call.cluster,
                replace(request, wait=wait, timeout=timeout),
                documents=documents,
            )
        if result.count > request.replicas:
            call.console.warn(
                f"there are {objects_of(result)}, more than '--{request.kind}s {request.replicas}' "
                f"asks for: none was deleted; '{command}' deletes the newest"
            )
        done.append(result)
    return done


@contextmanager
def going_on(call: Invocation, command: str) -> Iterator[None]:
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
