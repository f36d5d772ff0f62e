"""Parses command lines into checked values."""
