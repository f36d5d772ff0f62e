"""Single values as users write them: words, numbers and quantities."""
