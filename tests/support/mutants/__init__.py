"""Conditions of the product that random cases guard, each changed once, and what finds that."""
