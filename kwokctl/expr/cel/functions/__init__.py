"""The functions and operators of CEL, those of kwok among them."""
