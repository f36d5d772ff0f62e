"""Lets pytest run tests against a cluster that is rewound before each."""

__all__ = ["webhooks"]
