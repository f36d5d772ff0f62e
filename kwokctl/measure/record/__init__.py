"""The record: lean lines from which every figure is computed."""
