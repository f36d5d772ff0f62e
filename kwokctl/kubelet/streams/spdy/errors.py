"""The errors of a SPDY connection."""


class SpdyError(Exception):
    """The other side broke the protocol; the connection cannot go on."""
