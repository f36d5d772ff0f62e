"""Describes the user's own components, and those of add-ons, in the form of kwokctl's own."""
