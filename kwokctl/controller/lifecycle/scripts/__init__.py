"""Predicts what a shell does with a script, as far as the text alone decides it: nothing is executed."""

__all__ = ["running", "script_tree"]
