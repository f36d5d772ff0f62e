"""HTTP/1.1 as every port of ours serves it: TLS and plain text on one port, kept connections, upgrades."""
