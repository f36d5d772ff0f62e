"""The page: one HTML file that shows a run, several runs, a comparison or a running cluster."""
