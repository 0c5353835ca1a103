"""How much of an activity whose rate is known falls into stretches of time."""

from __future__ import annotations

import numpy as np

from steelyard.stats.arrays import FloatArray


def rates_within(spans: FloatArray, edges: FloatArray, amounts: FloatArray) -> FloatArray:
    """The rate at which something went on in each of the `spans`, shape (n, 2) of start and end, per unit of time.

    For windows in order of time, `edges` of shape (m, 2), it is known how much there was in each: `amounts` (m,),
    spread evenly over the window. Between windows there was none. A span without length has the rate 0.
    """
    if not len(edges):
        return np.zeros(len(spans))
    cumulative = np.concatenate([[0.0], np.cumsum(amounts)])
    at_edges = np.stack([cumulative[:-1], cumulative[1:]], axis=1).reshape(-1)
    amounts_within = np.diff(np.interp(spans, edges.reshape(-1), at_edges), axis=1)[:, 0]
    lengths = spans[:, 1] - spans[:, 0]
    rates: FloatArray = np.divide(amounts_within, lengths, out=np.zeros(len(spans)), where=lengths > 0)
    return rates
