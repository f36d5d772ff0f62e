"""HTTP/1.1 as every port of ours serves it: TLS and plain text on one port, kept connections, upgrades."""

__all__ = ["http_server", "listening", "messages", "route_table"]
