"""Documents of the controller: Stages, those of files beside custom resources, and programs."""
