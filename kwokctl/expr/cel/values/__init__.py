"""The values of CEL, and what its operators and functions do with them."""
