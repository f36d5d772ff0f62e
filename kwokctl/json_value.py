"""The type of values that were read from JSON or YAML; their structure is not type-checked."""

from typing import Any

Json = Any
"""A value made of dictionaries with texts as keys, lists, texts, numbers, booleans and None."""
