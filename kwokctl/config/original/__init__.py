"""What the original's users may write and kwokctl does not serve, or calls by another name."""
