"""Spans of requests: where they go, and how each program is configured to send them."""
