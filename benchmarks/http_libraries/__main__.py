"""Our HTTP/1.1 client beside pycurl, aiohttp, urllib3, requests and httpx, over TLS.

pip install aiohttp httpx pycurl
python -m benchmarks.http_libraries [--work patch] [--rounds 5] [--instructions]
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.http_libraries.clients import CLIENTS
from benchmarks.http_server import serving
from benchmarks.libraries import Contest, Work

_CONTEST = Contest(
    title="HTTP client, TLS",
    module="benchmarks.http_libraries.one",
    clients=CLIENTS,
    work=(Work("patch", 3_000, "request", executed=300), Work("watch", 30_000, "event")),
)


def main() -> None:
    """Measure and print."""
    with serving() as access, TemporaryDirectory() as folder:
        file = Path(folder, "ca.crt")
        file.write_bytes(access.ca or b"")
        _CONTEST.run(access.server, str(file))


if __name__ == "__main__":
    main()
