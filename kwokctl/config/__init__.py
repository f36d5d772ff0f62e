"""The user's configuration: documents, options and environment as checked values."""
