"""Options and keys of the original that kwokctl does not support, or supports under another name."""
