"""The JSON schema of configuration documents, for editors and other tools."""
