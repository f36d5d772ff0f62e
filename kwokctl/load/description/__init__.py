"""Load documents: shapes, rhythms, templates and parameters. Pure but for files that they name."""
