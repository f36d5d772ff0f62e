"""The documents of kind Metric, and the text that they give."""
