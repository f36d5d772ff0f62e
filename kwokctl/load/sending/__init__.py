"""Sends the arrivals of loads, and follows what becomes of them."""
