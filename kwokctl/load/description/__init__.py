"""What Load documents say: shapes, rhythms, templates and parameters. Pure but for files that they name."""
