"""What the user asked for: documents, options and environment as checked values."""
