"""The trainings of gangs as every controller knows them from pods and Jobs."""
