"""The dictionary with which SPDY compresses headers.

Its 1,423 bytes are part of the protocol (https://datatracker.ietf.org/doc/html/draft-mbelshe-httpbis-spdy-00,
section 2.6.10.1): words, each behind its length in four bytes, and then one text.
"""

_WORDS = (
    "options head post put delete trace "
    "accept accept-charset accept-encoding accept-language accept-ranges "
    "age allow authorization cache-control connection content-base content-encoding "
    "content-language content-length content-location content-md5 content-range content-type "
    "date etag expect expires from host if-match if-modified-since if-none-match if-range "
    "if-unmodified-since last-modified location max-forwards pragma proxy-authenticate "
    "proxy-authorization range referer retry-after server te trailer transfer-encoding upgrade "
    "user-agent vary via warning www-authenticate method get status"
)
_PAIRS = ("200 OK", "version", "HTTP/1.1", "url", "public", "set-cookie", "keep-alive", "origin")
_TEXT = (
    "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505"
    "203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request"
    "401 Unauthorized403 Forbidden404 Not Found500 Internal Server Error501 Not Implemented"
    "503 Service UnavailableJan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 "
    "Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMTchunked,text/html,image/png,image/jpg,image/gif,"
    "application/xml,application/xhtml+xml,text/plain,text/javascript,publicprivatemax-age="
    "gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0."
)


def _behind_its_length(word: str) -> bytes:
    return len(word).to_bytes(4, "big") + word.encode("ascii")


DICTIONARY = b"".join(map(_behind_its_length, (*_WORDS.split(), *_PAIRS))) + _TEXT.encode("ascii")
