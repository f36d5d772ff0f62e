"""kwokctl's client for HTTP/1.1 beside the libraries that could replace it."""
