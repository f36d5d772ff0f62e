"""The type of values that were read from JSON or YAML, the only one that is not checked further."""

from typing import Any

Json = Any
"""A value made of dictionaries with texts as keys, lists, texts, numbers, booleans and None."""
