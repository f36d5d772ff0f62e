"""The interval between checkpoints that loses least. Pure.

J. W. Young, A first order approximation to the optimum checkpoint interval, Communications of the ACM 17 (1974).
"""

import math


def best_interval(checkpoint_cost: float, between_stops: float) -> float:
    """Return the seconds between two checkpoints with which the least time is lost.

    `checkpoint_cost` is what one costs, `between_stops` the mean time that a training runs until it stops, both in seconds.
    """
    return math.sqrt(2 * checkpoint_cost * between_stops)
