"""The options of fake nodes."""
