"""Measures what happens in a cluster: records it, computes figures from the record, and judges them."""
