"""HTTP/1.1 towards an API server: connections, TLS, and what answers mean."""
