"""Faults for Python programs and tests: where they hit, and what nodes are expected to become."""

from kwokctl.library.faults.expectations import condition as condition
from kwokctl.library.faults.expectations import cordoned as cordoned
from kwokctl.library.faults.expectations import drained as drained
from kwokctl.library.faults.expectations import gone as gone
from kwokctl.library.faults.expectations import labelled as labelled
from kwokctl.library.faults.expectations import no_longer as no_longer
from kwokctl.library.faults.expectations import ready as ready
from kwokctl.library.faults.expectations import tainted as tainted
from kwokctl.library.faults.places import feed as feed
from kwokctl.library.faults.places import leaf as leaf
from kwokctl.library.faults.places import rack as rack
from kwokctl.library.faults.places import spine as spine
from kwokctl.library.faults.places import zone as zone
