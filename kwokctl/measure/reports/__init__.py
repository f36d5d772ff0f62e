"""The report, and the forms in which it is written."""
