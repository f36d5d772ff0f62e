"""Breaks nodes as custom resources of kind Fault say, and puts back what lies beneath."""
