"""HTTP/1.1 of the kubelet server: TLS and plain text on one port, kept connections, upgrades."""
