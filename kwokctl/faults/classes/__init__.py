"""Classes and dialects of faults: their documents, fields, parameters and messages. Pure."""
