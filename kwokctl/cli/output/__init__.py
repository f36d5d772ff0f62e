"""Everything that is written to a terminal, a pipe or a log."""

__all__ = [
    "characters",
    "console",
    "diagnosis",
    "failures",
    "progress_rows",
    "results",
    "stage_verdicts",
    "standard_streams",
]
