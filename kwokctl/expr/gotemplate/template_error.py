"""Errors when a template is rendered."""


class TemplateError(Exception):
    """A run-time error of a template."""
