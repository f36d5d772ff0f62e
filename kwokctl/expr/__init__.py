"""Small languages: pure, and ignorant of clusters."""
