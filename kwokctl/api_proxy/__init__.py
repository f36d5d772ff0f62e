"""The proxy between all clients and the API server, which carries out faults of the API."""
