"""What goes wrong when a template is rendered."""


class TemplateFault(Exception):  # noqa: N818 - becomes an ExpressionError that names the place
    """A run-time error of a template."""
