"""Where programs come from: one small port, and its sources."""
