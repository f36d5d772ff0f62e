"""The client of Docker's SDK, with what it does badly done otherwise: it greets an engine, and runs commands.

Loading it takes a quarter of a second.
"""

import struct
from collections.abc import Iterator

from docker import APIClient
from docker.errors import DockerException, create_api_error_from_http_exception
from docker.types import CancellableStream
from requests import HTTPError, RequestException, Response
from urllib3.exceptions import HTTPError as BrokenAnswerError
from urllib3.response import HTTPResponse

_HEADER = struct.Struct(">BxxxL")
"""The head of a part: its stream, and its length
(https://docs.docker.com/reference/api/engine/version/v1.41/#tag/Container/operation/ContainerAttach).
"""

_OF_PODMAN = "Libpod-API-Version"
"""A header that Podman's service adds to its answers
(https://docs.podman.io/en/latest/_static/api.html#tag/system-(compat)/operation/SystemPing).
"""


class Sdk(APIClient):  # type: ignore[misc]  # the SDK has no types
    """Takes neither proxies nor CAs from the environment: the engine is on this machine.

    `exec_start` of the SDK loses what an engine sends together with the headers of its answer: all
    that a short command writes, on a busy machine (https://github.com/docker/docker-py/issues/3332).
    The two methods here stand for it.
    """

    trust_env = property(lambda _: False, lambda _, __: None)
    is_podman = False
    """Whether the engine is Podman's service."""

    def _retrieve_server_version(self) -> str:
        """Read the version of the API from a ping, which costs nothing.

        The SDK asks `/version`, for which Podman runs dpkg-query for each of its programs
        (https://docs.docker.com/reference/api/engine/version/v1.41/#tag/System/operation/SystemPing).
        """
        try:
            with self.get(f"{self.base_url}/_ping", timeout=self.timeout) as response:
                self.is_podman = _OF_PODMAN in response.headers
                if version := response.headers.get("Api-Version"):
                    return str(version)
        except RequestException as e:
            raise DockerException(f"Error while fetching server API version: {e}") from e
        return str(super()._retrieve_server_version())

    def exec_output(self, execution: str) -> bytes:
        """Start a command that was created, and return what it writes until it ends."""
        with self._started(execution, self.timeout) as response:
            return b"".join(_parts(response.raw))

    def exec_stream(self, execution: str) -> CancellableStream:
        """Start a command that was created; the stream yields what it writes, for ever if need be."""
        response = self._started(execution, None)
        return CancellableStream(_parts(response.raw), response)

    def _started(self, execution: str, timeout: float | None) -> Response:
        # Without "Upgrade", which would take the connection out of the hands of the HTTP library.
        response: Response = self.post(
            f"{self.base_url}/v{self.api_version}/exec/{execution}/start",
            json={"Detach": False, "Tty": False},
            stream=True,
            timeout=timeout,
        )
        try:
            response.raise_for_status()
        except HTTPError as e:
            create_api_error_from_http_exception(e)
        return response


def _parts(answer: HTTPResponse) -> Iterator[bytes]:
    """Yield what is in the frames of an answer; ConnectionError if it breaks off or pauses too long."""
    try:
        while len(header := answer.read(_HEADER.size)) == _HEADER.size:
            _, length = _HEADER.unpack(header)
            yield answer.read(length)
    except BrokenAnswerError as e:
        raise ConnectionError(f"the output of a command broke off: {e}") from e
