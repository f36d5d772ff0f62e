"""Sends the arrivals of loads, and follows the objects that they created."""
