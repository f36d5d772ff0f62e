"""The clients for HTTP by name; each loads its library when it is asked for."""

from benchmarks.http_libraries.http_client import HttpClient
from kwokctl.kube.kubeconfig.access import Access

OURS = "ours"
CLIENTS = (OURS, "pycurl", "aiohttp", "urllib3", "requests", "httpx")


def client(name: str, access: Access) -> HttpClient:
    """Return a client of a library, which is imported only now."""
    match name:
        case "pycurl":
            from benchmarks.http_libraries.pycurl_client import PycurlClient

            return PycurlClient(access)
        case "aiohttp":
            from benchmarks.http_libraries.aiohttp_client import AiohttpClient

            return AiohttpClient(access)
        case "urllib3":
            from benchmarks.http_libraries.threaded_clients import Urllib3Client

            return Urllib3Client(access)
        case "requests":
            from benchmarks.http_libraries.threaded_clients import RequestsClient

            return RequestsClient(access)
        case "httpx":
            from benchmarks.http_libraries.httpx_client import HttpxClient

            return HttpxClient(access)
        case _:
            from benchmarks.http_libraries.our_client import OurClient

            return OurClient(access)
