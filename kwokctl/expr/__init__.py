"""Small languages: pure, and independent of clusters."""
