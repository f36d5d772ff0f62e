"""Describes components of the user's own, and those of add-ons, as those of kwokctl are."""
