"""Requests that an audit log has, counted by their clients."""

import os
from collections import Counter
from pathlib import Path, PosixPath

import pytest

from kwokctl.kube.transport.pool import USER_AGENT
from kwokctl.measure.sampling.audit_event import client_of
from kwokctl.measure.sampling.audit_log import AuditLog
from tests.support.audited import event


@pytest.mark.parametrize(
    ("agent", "client"),
    [
        ("kubectl/v1.36.3 (linux/amd64) kubernetes/02d6d2a", "kubectl"),
        ("kube-scheduler/v1.36.3 (linux/amd64) kubernetes/02d6d2a/scheduler", "kube-scheduler"),
        (
            "kube-controller-manager/v1.36.3 (linux/amd64) kubernetes/02d6d2a/system:serviceaccount:kube-system:job-controller",
            "kube-controller-manager/job-controller",
        ),
        (f"{USER_AGENT} measure", "the recorder"),
        (f"{USER_AGENT} load", "loads"),
        (USER_AGENT, "kwokctl"),
        ("", "unnamed"),
    ],
)
def test_clients_are_named_by_their_programs(agent: str, client: str) -> None:
    assert client_of(agent) == client


def test_requests_are_counted_once_each_from_the_beginning_on(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    path.write_text(event("before/1", 200))
    log = AuditLog(path)
    log.begin()
    whole = [
        event("a/1", 0, stage="RequestReceived"),
        event("a/1", 201),
        event("a/2", 409),
        event("b/1", 200, verb="watch", stage="ResponseStarted"),
        event("b/1", 200, verb="watch"),
        event("b/1", 403, verb="watch"),
        event("c/1", 500, stage="Panic"),
    ]
    with path.open("a") as file:
        file.write("".join(whole)[:-10])
    first = log.news().counts
    with path.open("a") as file:
        file.write("".join(whole)[-10:] + '{"cut": \n')
    second = log.news().counts

    assert first == Counter({("a", 201): 1, ("a", 409): 1, ("b", 200): 1, ("b", 403): 1})
    assert second == Counter({("c", 500): 1})
    assert log.news().counts == Counter()
    log.close()


def test_a_log_that_was_moved_away_is_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    path.touch()
    log = AuditLog(path)
    log.begin()
    path.write_text(event("a/1", 200))
    path.rename(tmp_path / "audit-1.log")
    assert log.news().counts == Counter({("a", 200): 1})
    with (tmp_path / "audit-1.log").open("a") as file:
        file.write(event("b/1", 200))
    path.write_text(event("c/1", 200))

    assert log.news().counts == Counter({("b", 200): 1, ("c", 200): 1})
    log.close()


def test_what_is_written_to_a_log_just_before_it_is_moved_away_is_read(tmp_path: Path) -> None:
    class Moved(PosixPath):
        """A log that the API server moves away after a look at it, and before the next."""

        def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
            if not (tmp_path / "audit-1.log").exists():
                with self.open("a") as file:
                    file.write(event("a/1", 200))
                self.rename(tmp_path / "audit-1.log")
                self.write_text(event("b/1", 200))
            return super().stat(follow_symlinks=follow_symlinks)

    path = Moved(tmp_path / "audit.log")
    path.touch()
    log = AuditLog(path)
    log.begin()

    assert log.news().counts == Counter({("a", 200): 1, ("b", 200): 1})
    log.close()
