"""The result of a command, as it is sent to the client."""

import msgspec

from kwokctl.json_value import Json


class CommandEnd(msgspec.Struct, frozen=True):
    """Exit code and message; a command that could not be started has no code."""

    exit_code: int | None = 0
    problem: str = ""

    def status(self) -> dict[str, Json]:
        """Return it as a Status of the API (meta/v1), from which clients take the exit code."""
        metadata: dict[str, Json] = {"metadata": {}}
        if self.exit_code == 0:
            return metadata | {"status": "Success"}
        failure = metadata | {"status": "Failure", "message": self.message}
        if self.exit_code is None:
            return failure | {"reason": "InternalError", "code": 500}
        cause: dict[str, Json] = {"reason": "ExitCode", "message": str(self.exit_code)}
        return failure | {"reason": "NonZeroExitCode", "details": {"causes": [cause]}}

    @property
    def message(self) -> str:
        """Say it in words; empty if all went well."""
        if self.exit_code is None:
            return f"error executing command in container: {self.problem}"
        if self.exit_code == 0:
            return ""
        return f"command terminated with non-zero exit code: exit status {self.exit_code}"
