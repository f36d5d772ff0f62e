"""Follows the Jobs of gangs that train, and writes how far each has come."""
