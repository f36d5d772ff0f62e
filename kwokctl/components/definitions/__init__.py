"""One module per component, with its options, its certificate and its description: `DEFINITION`."""
