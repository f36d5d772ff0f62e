"""HTTP/1.1 as every port of ours serves it: TLS and plain text on one port, kept connections, upgrades."""

__all__ = [
    "answer_bytes",
    "http_server",
    "listening",
    "messages",
    "parsing",
    "route_table",
    "served_connection",
    "strangers",
]
