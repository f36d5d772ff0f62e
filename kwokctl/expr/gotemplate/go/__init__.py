"""Go's values: types, formats, times and numbers."""
