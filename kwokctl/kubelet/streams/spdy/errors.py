"""What can go wrong between two sides that speak SPDY."""


class SpdyError(Exception):
    """The other side broke the protocol; the connection cannot go on."""
