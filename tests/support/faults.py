"""The classes of faults that come with kwokctl, for tests."""

from kwokctl.faults.catalogue import FaultCatalogue

CATALOGUE = FaultCatalogue()
