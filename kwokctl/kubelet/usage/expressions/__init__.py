"""The CEL expressions of metrics and usages, and the variables that they see."""
