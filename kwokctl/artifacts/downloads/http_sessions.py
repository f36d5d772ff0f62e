"""Opens sessions of HTTP that trust the authorities of this machine, as curl and Go do.

requests alone trusts those that come with it, and not what a company has installed for its proxy. It takes a fifth of a
second to load: this module is imported where something is downloaded.
"""

import os

import requests
from requests.adapters import BaseAdapter, HTTPAdapter
from urllib3.util.ssl_ import create_urllib3_context

_CHOSEN = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
"""The variables with which users choose authorities; then no others are trusted."""


def open_session() -> requests.Session:
    """Return a session with the proxies, authorities and `.netrc` of the environment."""
    is_chosen = any(os.environ.get(name) for name in _CHOSEN)
    return requests.Session() if is_chosen else _Session()


class _Session(requests.Session):
    """Loads the authorities of this machine with the first request that needs them: mirrors without TLS do not."""

    def get_adapter(self, url: str) -> BaseAdapter:
        """Return what sends a request to this URL."""
        found = super().get_adapter(url)
        if found is self.adapters["https://"] and not isinstance(found, _OfThisMachine):
            found = _OfThisMachine()
            self.mount("https://", found)
        return found


class _OfThisMachine(HTTPAdapter):
    """Trusts the authorities of OpenSSL's folder, or of SSL_CERT_FILE and SSL_CERT_DIR, beside those of requests."""

    def __init__(self) -> None:
        self._context = create_urllib3_context()
        self._context.load_default_certs()
        super().__init__()

    def init_poolmanager(self, *args: object, **kwargs: object) -> None:
        super().init_poolmanager(*args, ssl_context=self._context, **kwargs)  # type: ignore[arg-type] # passed on

    def proxy_manager_for(self, proxy: str, **kwargs: object) -> object:
        return super().proxy_manager_for(proxy, ssl_context=self._context, **kwargs)
