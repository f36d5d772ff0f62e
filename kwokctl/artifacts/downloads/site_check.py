"""Finds out whether a site on another machine answers; nothing is downloaded."""

from urllib.parse import urlsplit

from kwokctl.artifacts.downloads import http_failures

_TIMEOUT = (5.0, 5.0)
_FAILED = 500


def trouble_with(url: str) -> str:
    """Return why the site of an address does not answer, empty if it does, whatever it answers.

    It blocks. Proxies and certificate bundles are those of the environment, as for downloads.
    """
    # Slow to import, and needed only on request.
    import requests

    from kwokctl.artifacts.downloads.http_sessions import open_session

    host = urlsplit(url).hostname or url
    try:
        with (
            open_session() as session,
            session.head(url, timeout=_TIMEOUT, allow_redirects=False) as answer,
        ):
            failed = answer.status_code >= _FAILED
            return f"{host} answers {answer.status_code}" if failed else ""
    except requests.RequestException as e:
        return str(http_failures.of_error(host, e))
