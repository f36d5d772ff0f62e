"""Objects of any cluster into a file: paged, several kinds at a time, and resumed."""
