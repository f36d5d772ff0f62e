"""Collections of objects: listed, watched and remembered."""
