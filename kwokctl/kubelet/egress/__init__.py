"""The egress proxy with which the API server reaches nodes at their own addresses, by CONNECT."""
