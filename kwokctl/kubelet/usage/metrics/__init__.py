"""The documents of kind Metric, and the pages that are rendered from them."""
