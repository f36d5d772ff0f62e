"""The history that the lines of a record tell, from which figures are computed."""
