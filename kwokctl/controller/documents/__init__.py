"""Documents of the controller: Stages, from files and from custom resources, and container programs."""
