"""Random draws that can be made again: each depends on a seed, on names and on a number only."""
