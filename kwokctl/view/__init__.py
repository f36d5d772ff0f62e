"""Shows a running cluster on a page that follows it: the command `kwokctl view`. Reads only."""
