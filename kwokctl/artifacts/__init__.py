"""Finds programs and images: given, stored, downloaded or built."""
