"""The way on which the API server reaches nodes by their own addresses: it asks for each by CONNECT."""
