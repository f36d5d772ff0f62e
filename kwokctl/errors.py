"""Defines kwokctl's errors: messages that its users can understand, with hints.

    KwokctlError            exit 1   the one type the command line catches
    ├── UsageError          exit 2   invalid arguments, options or settings
    │   └── NotServedError  exit 2   an option of the original that is not supported
    ├── ConfigError                  a document or a saved file does not say what it must
    ├── ExpressionError              a template or a query cannot be compiled or run
    ├── UnavailableError             something that is needed is not on this machine
    ├── CommandError                 a program that was run failed
    ├── NotFoundError                what was named does not exist
    ├── ConflictError                what was named is taken by something else
    ├── BusyError                    another kwokctl holds the lock
    ├── ArtifactError                a program cannot be found, fetched, built or trusted
    ├── ComponentError               a component does not start, or has died
    ├── TimedOutError                a wait has reached its deadline
    ├── CapacityError                what is requested does not fit etcd's quota or the machine
    ├── SnapshotError                a snapshot file cannot be trusted
    ├── CannotStampError             an object cannot be copied in etcd
    └── RequestError                 a request to a cluster failed; `path` says where it was sent
        ├── ApiError                 the Kubernetes API refused a request, or did not answer
        ├── EtcdConflictError        what is in etcd is not what a write builds on
        ├── EtcdGoneError            etcd did not answer: what was under way may be done or not
        └── EtcdRefusedError         etcd answered, and refused

`id` is stable: scripts may compare it. The message is lower-case without a full stop and names
things in quotes; `hint` says what to do now; `detail` is what a program said.
"""

from typing import ClassVar

_FULL = "database space exceeded"
_FINAL = (
    "etcdserver: request is too large",
    "received message larger than max",
    "etcdserver: permission denied",
)
"""Refusals of etcd, which the API server passes on as failures of its own."""
_FINAL_CODES = frozenset({3, 7, 12, 16})
"""INVALID_ARGUMENT, PERMISSION_DENIED, UNIMPLEMENTED and UNAUTHENTICATED."""


def make_room(cluster: str) -> str:
    """Say what to do about an etcd that has reached its quota."""
    return f"make room with: kwokctl --name {cluster} doctor --fix"


class KwokctlError(Exception):
    """The one type the command line catches; anything else is a bug and keeps its traceback."""

    exit_code: ClassVar[int] = 1
    id: str = "error"

    def __init__(self, message: str, *, hint: str | None = None, detail: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint
        self.detail = detail


class UsageError(KwokctlError):
    """Invalid arguments, options or settings."""

    exit_code: ClassVar[int] = 2
    id: str = "usage"


class NotServedError(UsageError):
    """An option of the original that is not supported: refused, never ignored."""

    id: str = "not-served"


class ConfigError(KwokctlError):
    """A document or a saved file does not say what it must."""

    id: str = "config"


class ExpressionError(KwokctlError):
    """A template or a query cannot be compiled or run."""

    id: str = "expression"


class UnavailableError(KwokctlError):
    """Something that is needed is not on this machine."""

    id: str = "unavailable"


class CommandError(KwokctlError):
    """A program that was run failed."""

    id: str = "command-failed"


class NotFoundError(KwokctlError):
    """The named thing does not exist."""

    id: str = "not-found"


class ConflictError(KwokctlError):
    """The name is taken by something else."""

    id: str = "conflict"


class BusyError(KwokctlError):
    """Another kwokctl holds the lock."""

    id: str = "busy"


class ArtifactError(KwokctlError):
    """A program cannot be found, fetched, built or trusted."""

    id: str = "artifact"


class ComponentError(KwokctlError):
    """A component does not start, or has died.

    `component` names it where its log is the `detail`; `remedy` is the part of the hint that removes a known
    cause.
    """

    id: str = "component-failed"

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        detail: str | None = None,
        component: str = "",
        remedy: str = "",
    ) -> None:
        super().__init__(message, hint=hint, detail=detail)
        self.component = component
        self.remedy = remedy


class TimedOutError(KwokctlError):
    """A wait has reached its deadline."""

    id: str = "timed-out"


class CapacityError(KwokctlError):
    """The request does not fit etcd's quota or this machine's memory."""

    id: str = "capacity"


class SnapshotError(KwokctlError):
    """A snapshot file cannot be trusted."""

    id: str = "snapshot-invalid"


class CannotStampError(KwokctlError):
    """An object cannot be copied in etcd: copies would differ in unexpected fields.

    A user sees it only with the data path `etcd`: with `auto` the objects are created through the
    API server.
    """

    id: str = "cannot-stamp"

    def __init__(self, problem: str, *, consequence: str = "") -> None:
        super().__init__(
            problem + consequence, hint="repeat it with --data-path auto, which uses the API then"
        )
        self.problem = problem
        """The message without what follows where the API is used."""


class RequestError(KwokctlError):
    """A request to a cluster failed; which class it is says where the request was sent.

    `status` is the HTTP status that the API server has, or would have, answered with; 0 when no
    answer came, or one that may be another soon. `reason` is the machine-readable
    `metav1.Status.reason`, such as `AlreadyExists`. A full etcd has one id and one remedy, whether etcd
    reports it itself or the API server does.
    """

    path: ClassVar[str]
    """The path of the request, for messages."""
    status: int = 0
    reason: str = ""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        if self.is_full:
            self.id = CapacityError.id
            self.hint = make_room("NAME")

    @property
    def is_full(self) -> bool:
        """Whether etcd has reached its quota: only deletions are accepted until it shrinks."""
        return _FULL in str(self)

    @property
    def is_final(self) -> bool:
        """Whether the same request is refused again, whatever else changes: what is in it is wrong."""
        return any(text in str(self) for text in _FINAL)


class ApiError(RequestError):
    """The Kubernetes API refused a request, or did not answer."""

    id: str = "api"
    path: ClassVar[str] = "the API server"

    def __init__(
        self, message: str, *, status: int, reason: str = "", hint: str | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.reason = reason


class EtcdConflictError(RequestError):
    """The stored value differs from the one that a write builds on: nothing was written.

    `status` and `reason` are those with which the API server would refuse the same write.
    """

    id: str = "etcd-conflict"
    path: ClassVar[str] = "etcd"

    def __init__(self, message: str, *, status: int, reason: str) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason


class EtcdGoneError(RequestError):
    """No answer came from etcd: it is unknown whether the request has been carried out."""

    id: str = "etcd-gone"
    path: ClassVar[str] = "etcd"
    reason: str = "EtcdUnavailable"


class EtcdRefusedError(RequestError):
    """Etcd answered, and refused.

    `code` is the gRPC status (https://grpc.io/docs/guides/status-codes/), never 0.
    """

    id: str = "etcd-refused"
    path: ClassVar[str] = "etcd"
    reason: str = "EtcdUnavailable"

    def __init__(self, message: str, *, code: int) -> None:
        super().__init__(message)
        self.code = code

    @property
    def is_final(self) -> bool:
        """Whether the same request is refused again: too large, not permitted, or unknown."""
        return self.code in _FINAL_CODES or super().is_final
