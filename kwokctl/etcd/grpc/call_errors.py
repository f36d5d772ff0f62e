"""Makes the errors of calls to etcd that failed."""

import ssl

from kwokctl.errors import EtcdGoneError, EtcdRefusedError


class NotProcessedError(Exception):
    """A call certainly has not been processed: it may be sent again."""


def gone(target: str, why: str) -> EtcdGoneError:
    """Return the error for a call whose outcome is unknown."""
    return EtcdGoneError(
        f"etcd at '{target}' was lost: {why}",
        hint="the request may or may not have been carried out: check before repeating it",
    )


def unreachable(target: str, why: str) -> EtcdGoneError:
    """Return the error for a call that was never sent."""
    return EtcdGoneError(
        f"etcd at '{target}' cannot be reached: {why}", hint="make sure that the cluster runs"
    )


def refused(code: int, text: str) -> EtcdRefusedError:
    """Return the error for a call that etcd has answered with this gRPC status."""
    return EtcdRefusedError(f"etcd refused: {text or f'gRPC status {code}'}", code=code)


def explained(error: Exception) -> str:
    """Explain why there is no connection, or why it was lost."""
    match error:
        case ssl.SSLCertVerificationError():
            return f"it cannot be trusted: {error.verify_message}"
        case ssl.SSLError():
            return f"no TLS: {error.reason or error}"
        case ConnectionRefusedError() | FileNotFoundError():
            return "connection refused"
        case OSError(strerror=str(why)):
            return why
        case _:
            return str(error)
